package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a server makes of a session that is resumed, and of requests that are repeated. */
public abstract class ResumeContract extends Contract {

  private static final String ID = "mine";

  @AutoClose("shutdownNow")
  private ManagedChannel channel;

  @BeforeEach
  final void connect() {
    channel = clientBuilder().connect();
  }

  private AcquireRequest.Builder request(String id, String owner, Long... heldTokens) {
    AcquireRequest.Builder request =
        AcquireRequest.newBuilder()
            .setRequestId(id)
            .setOwner(owner)
            .addAllHeldTokens(List.of(heldTokens));
    request.addLocksBuilder().setName(lock);
    return request;
  }

  private RawSession resumed(RawSession before) {
    RawSession after = RawSession.resume(channel, before.opened());
    assertThat(after.opened().getResumed()).isTrue();
    return after;
  }

  private static Grant grant(AcquireResponse event) {
    assertThat(event.getEventCase()).isEqualTo(AcquireResponse.EventCase.GRANTED);
    return event.getGranted().getGrants(0);
  }

  private static long token(AcquireResponse event) {
    return grant(event).getFencingToken();
  }

  @Test
  void heldRequestThatIsRepeatedIsGrantedAgainWithTheSameToken() {
    // Given
    RawSession session = RawSession.open(channel);
    session.acquire(request(ID, ""));
    long token = token(session.events(ID, 1).get(0));
    // When
    session.acquire(request(ID, "", token));
    // Then
    assertThat(token(session.events(ID, 2).get(1))).isEqualTo(token);
    session.close();
  }

  @Test
  void grantIsToldAtTheResumeAndAgainForTheRepeatedRequest() {
    // Given
    RawSession before = RawSession.open(channel);
    before.acquire(request(ID, ""));
    long token = token(before.events(ID, 1).get(0));
    // When
    RawSession after = resumed(before);
    after.acquire(request(ID, "", token));
    // Then
    assertThat(after.events(ID, 2)).extracting(ResumeContract::token).containsExactly(token, token);
    before.awaitEnd();
    after.close();
  }

  @Test
  void requestThatTheServerDoesNotKnowIsLostThoughTheLockIsFree() {
    // Given
    RawSession session = RawSession.open(channel);
    // When
    session.acquire(request(ID, "", 4711L));
    // Then
    AcquireResponse event = session.events(ID, 1).get(0);
    assertThat(event.getLost().getReason()).isEqualTo(LossReason.LOSS_REASON_REMOVED);
    assertThat(client("b").getLock(lock).holders()).isEmpty();
    session.close();
  }

  @Test
  void requestThatTheServerDoesNotKnowIsLostAndNotQueuedBehindAnother() throws Exception {
    // Given
    LockHandle other = client("b").lock(lock);
    RawSession session = RawSession.open(channel);
    // When
    session.acquire(request(ID, "task", other.fencingToken()));
    // Then
    AcquireResponse event = session.events(ID, 1).get(0);
    assertThat(event.getLost().getReason()).isEqualTo(LossReason.LOSS_REASON_REMOVED);
    assertThat(client("c").getLock(lock).queueLength()).isZero();
    session.close();
  }

  @Test
  void levelThatTheServerDoesNotKnowIsLostWhereNoOtherHasServedTheLease() {
    // Given
    RawSession session = RawSession.open(channel);
    session.acquire(request("outer", "task"));
    long token = token(session.events("outer", 1).get(0));
    // When
    session.acquire(request(ID, "task", token));
    // Then
    assertThat(session.events(ID, 1).get(0).hasLost()).isTrue();
    assertThat(session.release("outer").getOutcome())
        .isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    assertThat(client("b").getLock(lock).holders()).isEmpty();
    session.close();
  }

  @Test
  void waitingRequestThatIsRepeatedKeepsItsPlace() throws Exception {
    // Given
    LockHandle other = client("b").lock(lock);
    RawSession before = RawSession.open(channel);
    before.acquire(request(ID, ""));
    before.events(ID, 1);
    LockkeeperClient third = client("c");
    CompletableFuture<LockHandle> behind = queue(third, LockRequest.of(lock), lock);
    // When
    RawSession after = resumed(before);
    after.acquire(request(ID, ""));
    List<AcquireResponse> told = after.events(ID, 2);
    other.close();
    // Then
    assertThat(told)
        .extracting(AcquireResponse::getEventCase)
        .containsExactly(AcquireResponse.EventCase.QUEUED, AcquireResponse.EventCase.QUEUED);
    assertThat(token(after.events(ID, 3).get(2))).isGreaterThan(other.fencingToken());
    assertThat(behind).isNotDone();
    after.close();
  }

  @Test
  void releaseThatIsRepeatedAfterAResumeIsDone() {
    // Given
    RawSession before = RawSession.open(channel);
    before.acquire(request(ID, ""));
    before.events(ID, 1);
    ReleaseResponse first = before.release(ID);
    // When
    RawSession after = resumed(before);
    ReleaseResponse second = after.release(ID);
    // Then
    assertThat(first.getOutcome()).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    assertThat(second.getOutcome()).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_ALREADY_RELEASED);
    after.close();
  }

  @Test
  void streamThatIsStillOpenIsEndedByTheNext() {
    // Given
    RawSession before = RawSession.open(channel);
    before.opened();
    // When
    RawSession after = resumed(before);
    // Then
    before.awaitEnd();
    assertThat(after.wasSentAway()).isFalse();
    after.close();
  }
}
