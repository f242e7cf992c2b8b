package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Alone;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.UpdateMetadataRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Every kind of lock, and all that a request may ask for, over the death of its coordinator: in
 * each test the first of two is killed and its clients go on at the second.
 */
@Alone
final class KindsTakenOverIT {

  @RegisterExtension private static final Cluster cluster = Cluster.start(Plan.quick(2));

  @Test
  void readersGoOnReadingAndTheWriterBehindThemGoesOnWaiting() {
    // Given
    String lock = "taken/read-write";
    try (Guest one = Guest.at(cluster.connect(0));
        Guest two = Guest.at(cluster.connect(1));
        Guest writer = Guest.at(cluster.connect(0))) {
      one.ask("reads", Guest.lock(lock, LockMode.LOCK_MODE_READ));
      final long token = one.awaitToken("reads");
      two.ask("reads", Guest.lock(lock, LockMode.LOCK_MODE_READ));
      two.awaitToken("reads");
      writer.ask("writes", Guest.lock(lock, LockMode.LOCK_MODE_WRITE));
      writer.await("writes", EventCase.QUEUED);

      // When
      cluster.seat(0).kill();
      writer.moveTo(cluster.connect(1));
      one.moveTo(cluster.connect(1));

      // Then
      assertThat(one.awaitToken("reads")).isEqualTo(token);
      writer.await("writes", EventCase.QUEUED);
      two.release("reads");
      assertThat(writer.find("writes", EventCase.GRANTED)).isEmpty();
      one.release("reads");
      assertThat(writer.awaitToken("writes")).isGreaterThan(token);
    }
  }

  @Test
  void permitsThatAreTakenStayTaken() {
    // Given
    String lock = "taken/permits";
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest waiter = Guest.at(cluster.connect(1))) {
      holder.ask("two", permits(lock, 2));
      final long token = holder.awaitToken("two");
      waiter.ask("two", permits(lock, 2));
      waiter.await("two", EventCase.QUEUED);

      // When
      cluster.seat(0).kill();
      holder.moveTo(cluster.connect(1));

      // Then
      assertThat(holder.awaitToken("two")).isEqualTo(token);
      assertThat(waiter.find("two", EventCase.GRANTED)).isEmpty();
      holder.release("two");
      assertThat(waiter.awaitToken("two")).isGreaterThan(token);
    }
  }

  private static LockRequest permits(String lock, int count) {
    return LockRequest.newBuilder()
        .setName(lock)
        .setMode(LockMode.LOCK_MODE_PERMITS)
        .setPermits(count)
        .setLimit(3)
        .build();
  }

  @Test
  void severalLocksOfOneRequestAreKeptTogether() {
    // Given
    // Named against the order of their names, which is the order in which ZooKeeper lists them.
    LockRequest first = Guest.lock("taken/several/b", LockMode.LOCK_MODE_EXCLUSIVE);
    LockRequest second = Guest.lock("taken/several/a", LockMode.LOCK_MODE_EXCLUSIVE);
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest waiter = Guest.at(cluster.connect(0))) {
      holder.ask("both", first, second);
      final List<Long> tokens = tokens(holder.awaitGrants("both"));
      waiter.ask("both", second, first);
      waiter.await("both", EventCase.QUEUED);

      // When
      cluster.seat(0).kill();
      waiter.moveTo(cluster.connect(1));
      holder.moveTo(cluster.connect(1));

      // Then
      assertThat(tokens(holder.awaitGrants("both"))).isEqualTo(tokens);
      waiter.await("both", EventCase.QUEUED);
      assertThat(waiter.find("both", EventCase.GRANTED)).isEmpty();
      holder.release("both");
      assertThat(waiter.awaitGrants("both")).hasSize(2);
    }
  }

  private static List<Long> tokens(List<Grant> grants) {
    return grants.stream().map(Grant::getFencingToken).toList();
  }

  @Test
  void reentrantHoldsAreHeldUntilTheLastOfThemIsReleased() {
    // Given
    String lock = "taken/reentrant";
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest waiter = Guest.at(cluster.connect(1))) {
      holder.ask(owned("outer", lock));
      final long token = holder.awaitToken("outer");
      holder.ask(owned("inner", lock));
      assertThat(holder.awaitToken("inner")).isEqualTo(token);
      waiter.queue("waits", lock);

      // When
      cluster.seat(0).kill();
      holder.moveTo(cluster.connect(1));

      // Then
      assertThat(holder.awaitToken("outer")).isEqualTo(token);
      assertThat(holder.awaitToken("inner")).isEqualTo(token);
      assertThat(holder.release("outer")).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_DECREMENTED);
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      assertThat(holder.release("inner")).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }

  @Test
  void innerHoldIsKeptThoughTheOuterOneWasReleasedBefore() {
    // Given
    String lock = "taken/inner";
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest waiter = Guest.at(cluster.connect(1))) {
      holder.ask(owned("outer", lock));
      final long token = holder.awaitToken("outer");
      holder.ask(owned("inner", lock));
      holder.awaitToken("inner");
      waiter.queue("waits", lock);
      assertThat(holder.release("outer")).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_DECREMENTED);

      // When
      cluster.seat(0).kill();
      holder.moveTo(cluster.connect(1));

      // Then
      assertThat(holder.awaitToken("inner")).isEqualTo(token);
      holder.ask(owned("again", lock));
      assertThat(holder.awaitToken("again")).isEqualTo(token);
      assertThat(holder.release("inner")).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_DECREMENTED);
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      assertThat(holder.release("again")).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }

  private static AcquireRequest owned(String requestId, String lock) {
    return exclusive(requestId, lock).setOwner("task").build();
  }

  private static AcquireRequest.Builder exclusive(String requestId, String lock) {
    return AcquireRequest.newBuilder()
        .setRequestId(requestId)
        .addLocks(Guest.lock(lock, LockMode.LOCK_MODE_EXCLUSIVE));
  }

  @Test
  void longestHoldEndsAlsoAtTheCoordinatorThatTookOver() {
    // Given
    String lock = "taken/max-hold";
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest waiter = Guest.at(cluster.connect(1))) {
      holder.ask(exclusive("held", lock).setMaxHold(Guest.proto(Duration.ofSeconds(5))).build());
      final long token = holder.awaitToken("held");
      waiter.queue("waits", lock);

      // When
      cluster.seat(0).kill();
      holder.moveTo(cluster.connect(1));

      // Then
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      assertThat(holder.await("held", EventCase.LOST).getLost().getReason())
          .isEqualTo(LossReason.LOSS_REASON_MAX_HOLD);
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }

  @Test
  void lockDelayOfAHolderWhoDiesWithItsCoordinatorIsKept() throws Exception {
    // Given
    String lock = "taken/delay";
    Duration delay = Duration.ofSeconds(3);
    try (Guest waiter = Guest.at(cluster.connect(1), Duration.ofMinutes(1))) {
      Guest holder = Guest.at(cluster.connect(0), Duration.ofSeconds(2));
      holder.ask(exclusive("held", lock).setLockDelay(Guest.proto(delay)).build());
      final long token = holder.awaitToken("held");
      String entry =
          cluster.znodes().entries(lock).stream()
              .filter(name -> name.startsWith("_c_"))
              .findFirst()
              .orElseThrow();
      CompletableFuture<Long> gone = cluster.znodes().deletionOf(cluster.pathOf(lock, entry));
      waiter.queue("waits", lock);

      // When
      holder.freeze();
      cluster.seat(0).kill();

      // Then
      long goneNanos = gone.get(60, TimeUnit.SECONDS);
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
      assertThat(System.nanoTime() - goneNanos).isGreaterThan(delay.toNanos());
    }
  }

  @Test
  void metadataAndTheAnswerToAWishAreShownAfterwards() {
    // Given
    String lock = "taken/metadata";
    try (Guest holder = Guest.at(cluster.connect(0))) {
      holder.ask(exclusive("held", lock).putMetadata("step", "1").build());
      final long token = holder.awaitToken("held");
      LockServiceGrpc.newBlockingStub(cluster.connect(0))
          .updateMetadata(
              UpdateMetadataRequest.newBuilder()
                  .setLeaseId(holder.leaseId())
                  .setRequestId("held")
                  .putMetadata("step", "2")
                  .build());

      // When
      cluster.seat(0).kill();
      holder.moveTo(cluster.connect(1));

      // Then
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      Contender shown =
          LockServiceGrpc.newBlockingStub(cluster.connect(1))
              .getLock(GetLockRequest.newBuilder().setName(lock).build())
              .getLock()
              .getHolders(0);
      assertThat(shown.getMetadataMap()).containsEntry("step", "2");
      assertThat(shown.getFencingToken()).isEqualTo(token);
    }
  }

  @Test
  void wishToGiveWayIsToldByTheCoordinatorThatTookOver() {
    // Given
    String lock = "taken/wish";
    try (Guest holder = Guest.at(cluster.connect(0))) {
      holder.take("held", lock);

      // When: the wish is written while the holder's coordinator cannot read it any more
      cluster.seat(0).process().pause();
      LockServiceGrpc.newBlockingStub(cluster.connect(1))
          .requestRelease(
              RequestReleaseRequest.newBuilder().setName(lock).setReason("maintenance").build());
      cluster.seat(0).kill();
      holder.moveTo(cluster.connect(1));

      // Then
      assertThat(
              holder.await("held", EventCase.RELEASE_REQUESTED).getReleaseRequested().getReason())
          .isEqualTo("maintenance");
    }
  }
}
