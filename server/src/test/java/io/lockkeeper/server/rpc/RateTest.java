package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.security.LimitKey;
import io.lockkeeper.server.security.Limits;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.ErrorReason;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import io.lockkeeper.v1.RenewLeaseRequest;
import io.lockkeeper.v1.RenewLeaseResponse;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whoever asks for too much too fast is refused that, and loses nothing of what he has. */
class RateTest {

  private static final int MANY = 1_000;
  private static final int PER_SECOND = 30;
  private static final int BEYOND = 40;

  private final SomeRights rights =
      new SomeRights()
          .give("token:greedy", "", Right.values())
          .give("token:other", "", Right.values());

  @AutoClose private final SecuredServer secured = new SecuredServer(rights);

  @BeforeEach
  void limit() {
    rights.limit("token:greedy", Limits.DEFAULTS.with(LimitKey.REQUESTS_PER_SECOND, PER_SECOND));
  }

  private static AcquireRequest locks(String prefix, int count) {
    AcquireRequest.Builder request = AcquireRequest.newBuilder().setRequestId(prefix);
    for (int i = 0; i < count; i++) {
      request.addLocks(LockRequest.newBuilder().setName(prefix + "/" + i));
    }
    return request.build();
  }

  private StreamObserver<SessionRequest> open(
      String who, Received<SessionRequest, SessionResponse> client) {
    StreamObserver<SessionRequest> session = secured.locks(who).session(client);
    session.onNext(SessionMessages.opening());
    assertThat(client.next().hasOpened()).isTrue();
    return session;
  }

  /** Renews the lease more often than a second has requests, and awaits the answers. */
  private static void keepAlive(
      StreamObserver<SessionRequest> session, Received<SessionRequest, SessionResponse> client) {
    for (int i = 0; i < BEYOND; i++) {
      session.onNext(SessionMessages.keepAlive(i));
    }
    for (int i = 0; i < BEYOND; i++) {
      assertThat(client.next().getKeptAlive().getNonce()).isEqualTo(i);
    }
  }

  private static SessionRequest of(AcquireRequest request) {
    return SessionRequest.newBuilder().setAcquire(request).build();
  }

  @Test
  void sessionBeyondItsRateIsRefusedWhatItWantsAndKeepsAndGivesBackWhatItHas() {
    // Given
    Received<SessionRequest, SessionResponse> client = Received.all();
    StreamObserver<SessionRequest> session = open("greedy", client);
    session.onNext(of(locks("held", 1)));
    assertThat(client.next().getEvent().hasGranted()).isTrue();
    keepAlive(session, client); // which takes the next second, and is not refused
    // When
    session.onNext(of(locks("more", BEYOND)));
    SessionResponse refused = client.next();
    // Then
    assertThat(refused.getRefused().getAcquire()).isEqualTo("more");
    assertThat(refused.getRefused().getReason()).isEqualTo(ErrorReason.ERROR_REASON_LIMIT_REACHED);
    assertThat(refused.getRefused().getMessage()).contains("30 requests a second");
    assertThat(refused.getRefused().hasRetryAfter()).isTrue();
    // When
    keepAlive(session, client);
    session.onNext(SessionMessages.releasing("held"));
    // Then
    SessionResponse answer = client.next();
    while (answer.hasEvent()) {
      answer = client.next(); // The end of the acquisition is told, too.
    }
    assertThat(answer.getReleased().getRequestId()).isEqualTo("held");
    client.cancel();
  }

  @Test
  void leaseIsRenewedAndClosedHoweverManyRequestsThereWere() {
    // Given
    OpenLeaseResponse lease =
        secured.leasesNow("greedy").openLease(OpenLeaseRequest.getDefaultInstance());
    // When
    StatusRuntimeException refused =
        catchThrowableOfType(
            StatusRuntimeException.class,
            () -> {
              for (int i = 0; i < MANY; i++) {
                secured
                    .locksNow("greedy")
                    .getLock(GetLockRequest.newBuilder().setName("a").build());
              }
            });
    // Then
    assertThat(refused.getStatus().getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED);
    String id = lease.getLeaseId();
    for (int i = 0; i < BEYOND; i++) {
      assertThat(
              secured
                  .leasesNow("greedy")
                  .renewLease(RenewLeaseRequest.newBuilder().setLeaseId(id).build())
                  .hasValidFor())
          .isTrue();
    }
    assertThat(
            secured
                .leasesNow("greedy")
                .closeLease(CloseLeaseRequest.newBuilder().setLeaseId(id).build())
                .getAlreadyEnded())
        .isFalse();
  }

  @Test
  void toLookForLeasesThatAreNotServedHereIsRefusedWhereItGoesBeyondTheRate() {
    // When
    List<Received<RenewLeaseRequest, RenewLeaseResponse>> renewals = new ArrayList<>();
    for (int i = 100; i < 200; i++) {
      String unknown = "0123456789abcdef0123456789abc" + i;
      Received<RenewLeaseRequest, RenewLeaseResponse> renewal = Received.all();
      secured
          .leases("greedy")
          .renewLease(RenewLeaseRequest.newBuilder().setLeaseId(unknown).build(), renewal);
      renewals.add(renewal);
    }
    // Then
    assertThat(renewals.stream().map(renewal -> renewal.end().getCode()))
        .contains(Code.NOT_FOUND, Code.RESOURCE_EXHAUSTED);
  }

  @Test
  void errorOfACallAboveTheLimitIsDelayedAlsoThatOfASession() {
    // Given
    GetLockRequest request = GetLockRequest.newBuilder().setName("a").build();
    for (int i = 0; i < MANY; i++) {
      secured.locks("greedy").getLock(request, Received.all());
    }
    Received<SessionRequest, SessionResponse> session = Received.all();
    long startNanos = System.nanoTime();
    // When
    secured.locks("greedy").session(session).onNext(SessionMessages.resuming());
    // Then
    assertThat(session.end().isOk()).isFalse();
    assertThat(Duration.ofNanos(System.nanoTime() - startNanos))
        .isGreaterThanOrEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void sessionAboveTheLimitIsReadNoFasterThanTwiceTheLimit() {
    // Given
    Received<SessionRequest, SessionResponse> client = Received.all();
    StreamObserver<SessionRequest> session = open("greedy", client);
    long startNanos = System.nanoTime();
    // When
    for (int i = 0; i < 2 * BEYOND; i++) {
      session.onNext(of(locks("more-" + i, 1)));
    }
    // Then
    List<SessionResponse> answers = Stream.generate(client::next).limit(2 * BEYOND).toList();
    assertThat(answers).filteredOn(SessionResponse::hasRefused).isNotEmpty();
    assertThat(Duration.ofNanos(System.nanoTime() - startNanos))
        .isGreaterThanOrEqualTo(Duration.ofMillis(500));
    client.cancel();
  }

  @Test
  void requestForManyLocksThatIsMoreThanASecondsWorthIsTakenWhenItComesAlone() {
    // When
    Received<SessionRequest, SessionResponse> client = Received.all();
    StreamObserver<SessionRequest> session = open("other", client);
    Received<AcquireRequest, AcquireResponse> alone = Received.all();
    secured.locks("greedy").acquire(locks("wide", BEYOND), alone);
    // Then
    assertThat(alone.next().hasGranted()).isTrue();
    session.onNext(of(locks("others", BEYOND)));
    assertThat(client.next().getEvent().hasGranted()).isTrue();
    alone.cancel();
    client.cancel();
  }
}
