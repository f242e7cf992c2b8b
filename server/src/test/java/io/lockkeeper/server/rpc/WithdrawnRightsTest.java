package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.security.Limits;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What is held and watched when a right is taken away, or a token expires. */
class WithdrawnRightsTest {

  private final SomeRights rights =
      new SomeRights()
          .give("token:shop", "", Right.READ, Right.ACQUIRE, Right.WATCH)
          .give("token:pay", "", Right.READ, Right.ACQUIRE, Right.WATCH);

  @AutoClose private final SecuredServer secured = new SecuredServer(rights);

  /** A session stream of a client. */
  private final class Session {
    final Received<SessionRequest, SessionResponse> received = Received.all();
    final StreamObserver<SessionRequest> requests;
    final SessionOpened opened;

    Session(String token, OpenSession open) {
      requests = secured.locks(token).session(received);
      requests.onNext(SessionRequest.newBuilder().setOpen(open).build());
      opened = received.next().getOpened();
    }

    Session resumed(String token) {
      return new Session(
          token,
          OpenSession.newBuilder()
              .setLeaseId(opened.getLeaseId())
              .setLeaseSecret(opened.getLeaseSecret())
              .build());
    }

    SessionResponse ask(AcquireRequest.Builder request) {
      requests.onNext(SessionRequest.newBuilder().setAcquire(request).build());
      return received.next();
    }
  }

  private static AcquireRequest.Builder request(String id, String lock) {
    return AcquireRequest.newBuilder()
        .setRequestId(id)
        .addLocks(LockRequest.newBuilder().setName(lock));
  }

  @Test
  void whoHoldsGoesOnAfterAResumeThoughHeMayNotAcquireAnyMore() {
    // Given
    Session first = new Session("shop", OpenSession.getDefaultInstance());
    AcquireRequest.Builder held = request("r", "a").putMetadata("k", "v".repeat(100));
    Grant grant = first.ask(held).getEvent().getGranted().getGrants(0);
    rights.give("token:shop", "other/", Right.ACQUIRE);
    rights.limit("token:shop", strict());
    // When
    SessionResponse again = first.resumed("shop").ask(held.addHeldTokens(grant.getFencingToken()));
    // Then
    assertThat(again.getEvent().getGranted().getGrants(0).getFencingToken())
        .isEqualTo(grant.getFencingToken());
  }

  private static Limits strict() {
    return new Limits(
        10,
        10,
        10_000,
        10_000,
        10,
        10,
        10,
        10,
        100,
        0,
        Duration.ofMinutes(1),
        Duration.ofMinutes(1),
        Duration.ZERO);
  }

  @Test
  void tokensThatAreMadeUpOpenNothing() {
    // Given
    Session session = new Session("shop", OpenSession.getDefaultInstance());
    rights.give("token:shop", "other/", Right.ACQUIRE);
    Received<AcquireRequest, AcquireResponse> stream = Received.all();
    // When
    SessionResponse under = session.ask(request("r", "a").addHeldTokens(7));
    secured.locks("shop").acquire(request("r", "a").addHeldTokens(7).build(), stream);
    // Then
    assertThat(under.getEvent().hasLost()).isTrue();
    assertThat(stream.end().getCode()).isEqualTo(Code.PERMISSION_DENIED);
    assertThat(secured.server.status().locks()).isZero();
  }

  @Test
  void watchTellsNothingMoreOnceTheRightIsTakenAway() {
    // Given
    Received<WatchRequest, WatchResponse> watch = Received.all();
    secured
        .locks("pay")
        .watch(WatchRequest.newBuilder().addNames("a").addNames("b").build(), watch);
    assertThat(watch.next().hasSnapshotEnd()).isTrue();
    Session holder = new Session("shop", OpenSession.getDefaultInstance());
    // When
    rights.give("token:pay", "b", Right.WATCH);
    holder.ask(request("r-1", "a"));
    holder.ask(request("r-2", "b"));
    // Then
    assertThat(watch.next().getChange().getName()).isEqualTo("b");
  }

  @Test
  void streamWhoseTokenExpiresIsSentAwayAndResumedWithAFreshOne() {
    // Given
    Session brief = new Session("shop" + SecuredServer.BRIEF, OpenSession.getDefaultInstance());
    AcquireRequest.Builder held = request("r", "a");
    Grant grant = brief.ask(held).getEvent().getGranted().getGrants(0);
    Received<WatchRequest, WatchResponse> watch = Received.all();
    Received<AcquireRequest, AcquireResponse> lease = Received.all();
    secured.locks("shop" + SecuredServer.BRIEF).watch(WatchRequest.getDefaultInstance(), watch);
    secured.locks("shop" + SecuredServer.BRIEF).acquire(request("s", "b").build(), lease);
    // When
    SessionResponse away = brief.received.next();
    SessionResponse again = brief.resumed("shop").ask(held.addHeldTokens(grant.getFencingToken()));
    // Then
    assertThat(away.getGoingAway().getMessage()).contains("the token of the call has expired");
    assertThat(brief.received.end().isOk()).isTrue();
    assertThat(watch.end().getCode()).isEqualTo(Code.UNAVAILABLE);
    assertThat(again.getEvent().getGranted().getGrants(0).getFencingToken())
        .isEqualTo(grant.getFencingToken());
    assertThat(lease.next().hasGranted()).isTrue();
    assertThat(lease.hasEnded()).isFalse();
  }
}
