package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseResponse;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Every kind of lock through the services, on the coordinator itself. */
class KindsOnCoordinatorTest {

  @AutoClose private final InProcess server = InProcess.onRealCoordinator();

  /** A session with a lease of its own. */
  private final class Session {
    private final Received<SessionRequest, SessionResponse> received = Received.all();
    private final StreamObserver<SessionRequest> requests = server.locks().session(received);

    Session() {
      requests.onNext(SessionMessages.opening());
      assertThat(received.next().hasOpened()).isTrue();
    }

    /** Asks for a lock in the name of an owner and returns the first word about it. */
    AcquireResponse ask(String requestId, String owner, LockMode mode) {
      requests.onNext(
          SessionRequest.newBuilder()
              .setAcquire(request(mode).setRequestId(requestId).setOwner(owner))
              .build());
      return next(requestId);
    }

    AcquireResponse next(String requestId) {
      AcquireResponse event = received.next().getEvent();
      while (!event.getRequestId().equals(requestId)) {
        event = received.next().getEvent();
      }
      return event;
    }

    ReleaseResponse release(String requestId) {
      requests.onNext(SessionMessages.releasing(requestId));
      SessionResponse response = received.next();
      while (!response.hasReleased()) {
        response = received.next();
      }
      return response.getReleased().getResult();
    }
  }

  private static AcquireRequest.Builder request(LockMode mode) {
    return AcquireRequest.newBuilder()
        .addLocks(LockRequest.newBuilder().setName("orders/42").setMode(mode));
  }

  private static AcquireRequest.Builder permits(int permits, int limit) {
    LockRequest.Builder lock =
        LockRequest.newBuilder()
            .setName("pool")
            .setMode(LockMode.LOCK_MODE_PERMITS)
            .setPermits(permits)
            .setLimit(limit);
    return AcquireRequest.newBuilder().addLocks(lock);
  }

  private Received<AcquireRequest, AcquireResponse> acquire(AcquireRequest.Builder request) {
    Received<AcquireRequest, AcquireResponse> client = Received.all();
    server.locks().acquire(request.build(), client);
    return client;
  }

  private LockState lock(String name) {
    return server.locksNow().getLock(GetLockRequest.newBuilder().setName(name).build()).getLock();
  }

  private int configure(String lock, int limit) {
    return server
        .locksNow()
        .configureLock(ConfigureLockRequest.newBuilder().setName(lock).setLimit(limit).build())
        .getPreviousLimit();
  }

  @Test
  void readsShareTheLockAndNoneOvertakesAWriter() {
    // Given
    var first = acquire(request(LockMode.LOCK_MODE_READ));
    var second = acquire(request(LockMode.LOCK_MODE_READ));
    assertThat(first.next().hasGranted()).isTrue();
    assertThat(second.next().hasGranted()).isTrue();
    var writer = acquire(request(LockMode.LOCK_MODE_WRITE));
    assertThat(writer.next().getQueued().getPositions(0).getAhead()).isEqualTo(2);
    var third = acquire(request(LockMode.LOCK_MODE_READ));
    assertThat(third.next().hasQueued()).isTrue();
    // When
    first.cancel();
    second.cancel();
    // Then
    assertThat(writer.next().hasGranted()).isTrue();
    LockState lock = lock("orders/42");
    assertThat(lock.getHoldersList())
        .extracting(Contender::getMode)
        .containsExactly(LockMode.LOCK_MODE_WRITE);
    assertThat(lock.getQueue(0).getMode()).isEqualTo(LockMode.LOCK_MODE_READ);
    writer.cancel();
    assertThat(third.next().hasGranted()).isTrue();
  }

  @Test
  void ownerHoldsTwiceByOneTokenAndGivesBackLevelByLevel() {
    // Given
    Session session = new Session();
    Grant first = granted(session.ask("r-1", "t-1", LockMode.LOCK_MODE_EXCLUSIVE));
    // When
    Grant second = granted(session.ask("r-2", "t-1", LockMode.LOCK_MODE_EXCLUSIVE));
    // Then
    assertThat(first.getHoldCount()).isEqualTo(1);
    assertThat(second.getHoldCount()).isEqualTo(2);
    assertThat(second.getFencingToken()).isEqualTo(first.getFencingToken());
    ReleaseResponse one = session.release("r-1");
    assertThat(one.getOutcome()).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_DECREMENTED);
    assertThat(one.getRemainingHolds()).isEqualTo(1);
    assertThat(lock("orders/42").getHoldersCount()).isEqualTo(1);
    assertThat(session.release("r-2").getOutcome())
        .isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    assertThat(lock("orders/42").getHoldersCount()).isZero();
  }

  @Test
  void acquisitionsOfNoOwnerExcludeEachOther() {
    // Given
    Session session = new Session();
    granted(session.ask("r-1", "", LockMode.LOCK_MODE_EXCLUSIVE));
    // When
    AcquireResponse second = session.ask("r-2", "", LockMode.LOCK_MODE_EXCLUSIVE);
    // Then
    assertThat(second.hasQueued()).isTrue();
  }

  @Test
  void writerGoesOnAsAReaderAndNoQueuedWriterSlipsBetween() {
    // Given
    Session session = new Session();
    Grant write = granted(session.ask("w", "t-1", LockMode.LOCK_MODE_WRITE));
    var writer = acquire(request(LockMode.LOCK_MODE_WRITE));
    assertThat(writer.next().hasQueued()).isTrue();
    // When
    Grant read = granted(session.ask("r", "t-1", LockMode.LOCK_MODE_READ));
    session.release("w");
    // Then
    assertThat(read.getFencingToken()).isEqualTo(write.getFencingToken());
    assertThat(lock("orders/42").getHoldersList())
        .extracting(Contender::getMode)
        .containsExactly(LockMode.LOCK_MODE_READ);
    session.release("r");
    assertThat(writer.next().getGranted().getGrants(0).getFencingToken())
        .isGreaterThan(write.getFencingToken());
  }

  @Test
  void readerThatAsksToWriteIsRefusedAtOnce() {
    // Given
    Session session = new Session();
    granted(session.ask("r", "t-1", LockMode.LOCK_MODE_READ));
    // When
    AcquireResponse upgrade = session.ask("w", "t-1", LockMode.LOCK_MODE_WRITE);
    // Then
    assertThat(upgrade.getNotAcquired().getReason())
        .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK);
    assertThat(upgrade.getNotAcquired().getMessage()).isNotEmpty();
    assertThat(lock("orders/42").getHoldersCount()).isEqualTo(1);
  }

  @Test
  void permitsAreTakenTogetherAndEachGrantHasItsToken() {
    // Given
    Grant two = granted(acquire(permits(2, 3)).next());
    // When
    Grant one = granted(acquire(permits(1, 3)).next());
    // Then
    assertThat(one.getFencingToken()).isGreaterThan(two.getFencingToken());
    assertThat(acquire(permits(1, 3)).next().hasQueued()).isTrue();
  }

  @Test
  void fewerPermitsDoNotOvertakeWhoWaitsForMore() {
    // Given
    var holder = acquire(permits(2, 3));
    granted(holder.next());
    var more = acquire(permits(3, 3));
    assertThat(more.next().hasQueued()).isTrue();
    // When
    var fewer = acquire(permits(1, 3));
    // Then
    assertThat(fewer.next().getQueued().getPositions(0).getAhead()).isEqualTo(2);
    holder.cancel();
    granted(more.next());
  }

  @Test
  void higherLimitAdmitsWhoWaitsAndALowerOneRefusesWhoAsksForMore() {
    // Given
    granted(acquire(permits(3, 3)).next());
    var waiter = acquire(permits(2, 3));
    assertThat(waiter.next().hasQueued()).isTrue();
    // When
    int before = configure("pool", 5);
    // Then
    granted(waiter.next());
    assertThat(before).isEqualTo(3);
    assertThat(lock("pool").getConfiguredLimit()).isEqualTo(5);
    var tooMuch = acquire(permits(4, 0));
    assertThat(tooMuch.next().hasQueued()).isTrue();
    assertThat(configure("pool", 2)).isEqualTo(5);
    assertThat(tooMuch.next().getNotAcquired().getReason())
        .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_LIMIT_TOO_SMALL);
    assertThat(lock("pool").getHoldersCount()).isEqualTo(2);
  }

  @Test
  void anotherLimitIsRefusedAndBothAreNamed() {
    // Given
    granted(acquire(permits(1, 3)).next());
    // When
    var end = acquire(permits(1, 7)).end();
    // Then
    assertThat(end.getCode()).isEqualTo(Code.FAILED_PRECONDITION);
    assertThat(end.getDescription()).contains("3", "7");
  }

  @Test
  void limitThatNobodyKnowsIsAPreconditionThatFails() {
    // When
    var end = acquire(permits(1, 0)).end();
    // Then
    assertThat(end.getCode()).isEqualTo(Code.FAILED_PRECONDITION);
  }

  @Test
  void anotherKindIsRefusedAndTheKindInUseIsNamed() {
    // Given
    granted(acquire(request(LockMode.LOCK_MODE_READ)).next());
    // When
    var end = acquire(request(LockMode.LOCK_MODE_EXCLUSIVE)).end();
    // Then
    assertThat(end.getCode()).isEqualTo(Code.FAILED_PRECONDITION);
    assertThat(end.getDescription()).contains("READ_WRITE");
  }

  @Test
  void kindThatWasAddedIsSharedByItsOwnRuleAndShownByItsName() {
    // Given
    var blue = acquire(room("blue"));
    granted(blue.next());
    var alsoBlue = acquire(room("blue"));
    granted(alsoBlue.next());
    var red = acquire(room("red"));
    // When
    assertThat(red.next().hasQueued()).isTrue();
    // Then
    LockState lock = lock("orders/42");
    assertThat(lock.getHoldersList()).extracting(Contender::getCustom).containsOnly("room-blue");
    assertThat(lock.getQueue(0).getMode()).isEqualTo(LockMode.LOCK_MODE_CUSTOM);
    assertThat(lock.getQueue(0).getCustom()).isEqualTo("room-red");
    blue.cancel();
    alsoBlue.cancel();
    granted(red.next());
  }

  private static AcquireRequest.Builder room(String team) {
    AcquireRequest.Builder request = request(LockMode.LOCK_MODE_CUSTOM);
    request.getLocksBuilder(0).setCustom("room-" + team);
    return request;
  }

  @Test
  void severalLocksAreGrantedTogether() {
    // Given
    var holder = acquire(request(LockMode.LOCK_MODE_READ));
    granted(holder.next());
    AcquireRequest.Builder both = permits(1, 3);
    both.addLocks(LockRequest.newBuilder().setName("orders/42").setMode(LockMode.LOCK_MODE_WRITE));
    var waiter = acquire(both);
    assertThat(waiter.next().getQueued().getPositionsList())
        .extracting("name")
        .containsExactly("orders/42");
    // When
    holder.cancel();
    // Then
    var granted = waiter.next().getGranted();
    assertThat(granted.getGrantsList()).extracting("name").containsExactly("pool", "orders/42");
    assertThat(granted.getGrantsList()).allMatch(grant -> grant.getFencingToken() > 0);
  }

  private static Grant granted(AcquireResponse event) {
    assertThat(event.getEventCase()).isEqualTo(AcquireResponse.EventCase.GRANTED);
    return event.getGranted().getGrants(0);
  }
}
