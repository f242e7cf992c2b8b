package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc.LockServiceBlockingStub;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.RequestReleaseResponse;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.UpdateMetadataRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Every kind of lock, and everything that a request can ask for, over the death of its coordinator.
 * Each case prepares its clients and returns what must be true of them later. Then the first of two
 * coordinators is killed, once for all cases, and the clients go on at the second.
 */
final class KindsTakenOverIT {

  private static final Duration TTL = Duration.ofMinutes(1);
  private static final String ASKED = "taken/asked";

  @RegisterExtension private static final Cluster cluster = Cluster.shared(Plan.quick(2));

  private final List<Guest> guests = new ArrayList<>();

  @AfterEach
  void endLeases() {
    guests.forEach(Guest::close);
  }

  private Guest guest(int index) {
    Guest guest = Guest.at(cluster.connect(index), TTL);
    guests.add(guest);
    return guest;
  }

  private static LockServiceBlockingStub locks(int index) {
    return LockServiceGrpc.newBlockingStub(cluster.connect(index));
  }

  private static LockState look(String lock) {
    return locks(1).getLock(GetLockRequest.newBuilder().setName(lock).build()).getLock();
  }

  @TestFactory
  List<DynamicTest> everyKindOfHoldAndWaitGoesOnAtThePeer() {
    // Given: what takes longest comes last
    List<DynamicTest> cases =
        List.of(
            readersGoOnReadingAndTheWriterBehindThemGoesOnWaiting(),
            permitsThatAreTakenStayTaken(),
            severalLocksOfOneRequestAreKeptTogether(),
            reentrantHoldsAreHeldUntilTheLastOfThemIsReleased(),
            innerHoldIsKeptThoughTheOuterOneWasReleasedBefore(),
            metadataIsShownAfterwards(),
            requestForReleaseIsDeliveredByTheCoordinatorThatTookOver(),
            everyAnswerHasTheSameHigherEpoch(),
            longestHoldEndsAlsoAtTheCoordinatorThatTookOver(),
            lockDelayOfAHolderThatDiesWithItsCoordinatorIsKept());

    // When: the release is requested after the holder's coordinator can read it
    cluster.seat(0).process().pause();
    RequestReleaseResponse asked =
        locks(1)
            .requestRelease(
                RequestReleaseRequest.newBuilder().setName(ASKED).setReason("maintenance").build());
    cluster.seat(0).kill();

    // Then
    assertThat(asked.getHoldersList()).hasSize(1);
    return cases;
  }

  private DynamicTest readersGoOnReadingAndTheWriterBehindThemGoesOnWaiting() {
    String lock = "taken/read-write";
    Guest one = guest(0);
    Guest two = guest(1);
    Guest writer = guest(0);
    one.ask("reads", Guest.lock(lock, LockMode.LOCK_MODE_READ));
    final long token = one.awaitToken("reads");
    two.ask("reads", Guest.lock(lock, LockMode.LOCK_MODE_READ));
    two.awaitToken("reads");
    writer.ask("writes", Guest.lock(lock, LockMode.LOCK_MODE_WRITE));
    writer.await("writes", EventCase.QUEUED);
    return dynamicTest(
        "readers go on reading and the writer behind them goes on waiting",
        () -> {
          writer.moveTo(cluster.connect(1));
          one.moveTo(cluster.connect(1));
          assertThat(one.awaitToken("reads")).isEqualTo(token);
          writer.await("writes", EventCase.QUEUED);
          two.release("reads");
          assertThat(writer.find("writes", EventCase.GRANTED)).isEmpty();
          one.release("reads");
          assertThat(writer.awaitToken("writes")).isGreaterThan(token);
        });
  }

  private DynamicTest permitsThatAreTakenStayTaken() {
    String lock = "taken/permits";
    Guest holder = guest(0);
    Guest waiter = guest(1);
    holder.ask("two", permits(lock, 2));
    final long token = holder.awaitToken("two");
    waiter.ask("two", permits(lock, 2));
    waiter.await("two", EventCase.QUEUED);
    return dynamicTest(
        "permits that are taken stay taken",
        () -> {
          holder.moveTo(cluster.connect(1));
          assertThat(holder.awaitToken("two")).isEqualTo(token);
          assertThat(waiter.find("two", EventCase.GRANTED)).isEmpty();
          holder.release("two");
          assertThat(waiter.awaitToken("two")).isGreaterThan(token);
        });
  }

  private static LockRequest permits(String lock, int count) {
    return LockRequest.newBuilder()
        .setName(lock)
        .setMode(LockMode.LOCK_MODE_PERMITS)
        .setPermits(count)
        .setLimit(3)
        .build();
  }

  private DynamicTest severalLocksOfOneRequestAreKeptTogether() {
    // Named against the order of their names, which is the order in which ZooKeeper lists them.
    LockRequest first = Guest.lock("taken/several/b", LockMode.LOCK_MODE_EXCLUSIVE);
    LockRequest second = Guest.lock("taken/several/a", LockMode.LOCK_MODE_EXCLUSIVE);
    Guest holder = guest(0);
    Guest waiter = guest(0);
    holder.ask("both", first, second);
    final List<Long> tokens = tokens(holder.awaitGrants("both"));
    waiter.ask("both", second, first);
    waiter.await("both", EventCase.QUEUED);
    return dynamicTest(
        "several locks of one request are kept together",
        () -> {
          waiter.moveTo(cluster.connect(1));
          holder.moveTo(cluster.connect(1));
          assertThat(tokens(holder.awaitGrants("both"))).isEqualTo(tokens);
          waiter.await("both", EventCase.QUEUED);
          assertThat(waiter.find("both", EventCase.GRANTED)).isEmpty();
          holder.release("both");
          assertThat(waiter.awaitGrants("both")).hasSize(2);
        });
  }

  private static List<Long> tokens(List<Grant> grants) {
    return grants.stream().map(Grant::getFencingToken).toList();
  }

  private DynamicTest reentrantHoldsAreHeldUntilTheLastOfThemIsReleased() {
    String lock = "taken/reentrant";
    Guest holder = guest(0);
    Guest waiter = guest(1);
    holder.ask(owned("outer", lock));
    final long token = holder.awaitToken("outer");
    holder.ask(owned("inner", lock));
    assertThat(holder.awaitToken("inner")).isEqualTo(token);
    waiter.queue("waits", lock);
    return dynamicTest(
        "reentrant holds are held until the last of them is released",
        () -> {
          holder.moveTo(cluster.connect(1));
          assertThat(holder.awaitToken("outer")).isEqualTo(token);
          assertThat(holder.awaitToken("inner")).isEqualTo(token);
          assertThat(holder.release("outer")).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_DECREMENTED);
          assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
          assertThat(holder.release("inner")).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
          assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
        });
  }

  private DynamicTest innerHoldIsKeptThoughTheOuterOneWasReleasedBefore() {
    String lock = "taken/inner";
    Guest holder = guest(0);
    Guest waiter = guest(1);
    holder.ask(owned("outer", lock));
    final long token = holder.awaitToken("outer");
    holder.ask(owned("inner", lock));
    holder.awaitToken("inner");
    waiter.queue("waits", lock);
    assertThat(holder.release("outer")).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_DECREMENTED);
    return dynamicTest(
        "inner hold is kept though the outer one was released before",
        () -> {
          holder.moveTo(cluster.connect(1));
          assertThat(holder.awaitToken("inner")).isEqualTo(token);
          holder.ask(owned("again", lock));
          assertThat(holder.awaitToken("again")).isEqualTo(token);
          assertThat(holder.release("inner")).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_DECREMENTED);
          assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
          assertThat(holder.release("again")).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
          assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
        });
  }

  private static AcquireRequest owned(String requestId, String lock) {
    return exclusive(requestId, lock).setOwner("task").build();
  }

  private static AcquireRequest.Builder exclusive(String requestId, String lock) {
    return Asking.request(lock).setRequestId(requestId);
  }

  private DynamicTest metadataIsShownAfterwards() {
    String lock = "taken/metadata";
    Guest holder = guest(0);
    holder.ask(exclusive("held", lock).putMetadata("step", "1").build());
    final long token = holder.awaitToken("held");
    var unused =
        locks(0)
            .updateMetadata(
                UpdateMetadataRequest.newBuilder()
                    .setLeaseId(holder.leaseId())
                    .setRequestId("held")
                    .putMetadata("step", "2")
                    .build());
    return dynamicTest(
        "metadata is shown afterwards",
        () -> {
          holder.moveTo(cluster.connect(1));
          assertThat(holder.awaitToken("held")).isEqualTo(token);
          Contender shown = look(lock).getHolders(0);
          assertThat(shown.getMetadataMap()).containsEntry("step", "2");
          assertThat(shown.getFencingToken()).isEqualTo(token);
        });
  }

  private DynamicTest requestForReleaseIsDeliveredByTheCoordinatorThatTookOver() {
    Guest holder = guest(0);
    holder.take("held", ASKED);
    return dynamicTest(
        "request for release is delivered by the coordinator that took over",
        () -> {
          holder.moveTo(cluster.connect(1));
          assertThat(
                  holder
                      .await("held", EventCase.RELEASE_REQUESTED)
                      .getReleaseRequested()
                      .getReason())
              .isEqualTo("maintenance");
        });
  }

  private DynamicTest everyAnswerHasTheSameHigherEpoch() {
    String lock = "taken/epoch";
    SessionStream first = SessionStream.open(cluster.connect(0), TTL);
    final long epoch = first.await("opened", SessionResponse::hasOpened).value().getEpoch();
    first.acquire(lock, "held");
    final long token = first.awaitToken("held");
    return dynamicTest(
        "every answer has the same higher epoch",
        () -> {
          SessionStream resumed = first.resume(cluster.connect(1));
          SessionResponse opened = resumed.await("opened", SessionResponse::hasOpened).value();
          resumed.acquire(exclusive("held", lock).addHeldTokens(token).build());
          SessionResponse granted = resumed.await("held", EventCase.GRANTED).value();
          assertThat(opened.getEpoch()).isGreaterThan(epoch);
          assertThat(
                  List.of(
                      granted.getEpoch(),
                      granted.getEvent().getEpoch(),
                      resumed.keepAliveAnswered(1).getEpoch()))
              .containsOnly(opened.getEpoch());
          resumed.close();
        });
  }

  private DynamicTest longestHoldEndsAlsoAtTheCoordinatorThatTookOver() {
    String lock = "taken/max-hold";
    Guest holder = guest(0);
    Guest waiter = guest(1);
    holder.ask(exclusive("held", lock).setMaxHold(Guest.proto(Duration.ofSeconds(10))).build());
    final long token = holder.awaitToken("held");
    waiter.queue("waits", lock);
    return dynamicTest(
        "longest hold ends also at the coordinator that took over",
        () -> {
          holder.moveTo(cluster.connect(1));
          assertThat(holder.awaitToken("held")).isEqualTo(token);
          assertThat(holder.await("held", EventCase.LOST).getLost().getReason())
              .isEqualTo(LossReason.LOSS_REASON_MAX_HOLD);
          assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
        });
  }

  private DynamicTest lockDelayOfAHolderThatDiesWithItsCoordinatorIsKept() {
    String lock = "taken/delay";
    Guest waiter = guest(1);
    Guest holder = Guest.at(cluster.connect(0), cluster.pace().lockSession());
    holder.ask(exclusive("held", lock).setLockDelay(Guest.proto(Duration.ofHours(1))).build());
    holder.awaitToken("held");
    String entry =
        cluster.znodes().entries(lock).stream()
            .filter(name -> name.startsWith("_c_"))
            .findFirst()
            .orElseThrow();
    waiter.queue("waits", lock);
    holder.freeze();
    return dynamicTest(
        "lock delay of a holder that dies with its coordinator is kept",
        () -> {
          await(entry).until(() -> !cluster.znodes().exists(cluster.pathOf(lock, entry)));
          await("delay").until(() -> look(lock).hasDelayedFor());
          assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
        });
  }
}
