package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.CoordinatorObserver;
import io.lockkeeper.server.coordinator.api.CoordinatorSettings;
import io.lockkeeper.server.coordinator.api.FatalFailure;
import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.coordinator.api.WatchListener;
import io.lockkeeper.server.coordinator.api.WatchedChange;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.Occurrence;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.simulation.Wish;
import io.lockkeeper.server.memory.InMemoryLockStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a coordinator does whose core, effects or store throw, and what does not count as that. */
class FailStopTest {

  private static final LockName LOCK = new LockName("orders/42");
  private static final LockName OTHER = new LockName("orders/43");
  private static final Duration TTL = Duration.ofSeconds(15);

  private final FaultyStore faulty = new FaultyStore();
  private final InMemoryLockStore store = faulty.store();
  private final List<FatalFailure> breakdowns = new CopyOnWriteArrayList<>();
  private final List<Notice> counted = new CopyOnWriteArrayList<>();
  private volatile boolean countingFails;
  private final LoopCoordinator coordinator =
      new LoopCoordinator(
          faulty.asLockStore(), CoordinatorSettings.defaults(), new Counter(), breakdowns::add);

  private final class Counter implements CoordinatorObserver {
    @Override
    public void onOccurrence(Occurrence occurrence) {
      if (countingFails) {
        throw new IllegalStateException("cannot count");
      }
      counted.add(occurrence.notice());
    }

    @Override
    public void onStalled(long nanos) {}
  }

  @BeforeEach
  void start() {
    coordinator.start();
    await().until(() -> coordinator.status().serving());
  }

  @AfterEach
  void stop() throws InterruptedException {
    coordinator.stop(Duration.ofMillis(100));
  }

  /** Throws at whatever it is told of an acquisition. */
  private static final class Broken extends Heard {
    @Override
    public void onNotice(String requestId, long epoch, long sequence, Notice notice) {
      throw new IllegalStateException("cannot listen");
    }
  }

  /** Keeps why a watch ended. */
  private static final class Watcher implements WatchListener {
    final CompletableFuture<RefusedException> refused = new CompletableFuture<>();
    final CompletableFuture<Long> begun = new CompletableFuture<>();

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public void onSnapshot(LockView lock) {}

    @Override
    public void onSnapshotEnd(long revision) {
      begun.complete(revision);
    }

    @Override
    public void onChange(WatchedChange change) {}

    @Override
    public void onGap(String reason) {}

    @Override
    public void onRefused(RefusedException why) {
      refused.complete(why);
    }
  }

  private static AcquireCommand want(LockName lock, Optional<LeaseId> lease, String requestId) {
    return Wish.named(requestId).exclusive(lock.value()).command(lease);
  }

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(60, TimeUnit.SECONDS);
  }

  private static void assertUnavailable(CompletableFuture<?> future) {
    assertThat(future)
        .failsWithin(Duration.ofSeconds(60))
        .withThrowableThat()
        .havingRootCause()
        .isInstanceOfSatisfying(
            RefusedException.class,
            e -> assertThat(e.failure().reason()).isEqualTo(Failure.Reason.LEAVING));
  }

  private void awaitBreakdown() {
    await().until(() -> !breakdowns.isEmpty());
  }

  static List<Throwable> exceptionsAndErrors() {
    return List.of(new IllegalStateException("a bug"), new AssertionError("a worse one"));
  }

  @ParameterizedTest
  @MethodSource("exceptionsAndErrors")
  void coreThatThrowsDecidesNothingAnyMore(Throwable thrown) throws Exception {
    // Given: the core asks for the length of a path in the middle of an acquisition
    Heard holder = new Heard();
    final Coordinator.Subscription held =
        coordinator.acquire(want(OTHER, Optional.empty(), "a"), holder);
    holder.hear(Notice.Granted.class);
    // When
    faulty.breakAt("pathBytes", thrown);
    Heard unlucky = new Heard();
    coordinator.acquire(want(LOCK, Optional.empty(), "b"), unlucky);
    awaitBreakdown();
    held.close(false);
    store.tell(new StoreEvent.RebuildStarted(Set.of()));
    Heard late = new Heard();
    coordinator.acquire(want(LOCK, Optional.empty(), "c"), late);
    // Then: neither the event of the store nor the end of the stream has been applied
    assertThat(late.refusal().failure().reason()).isEqualTo(Failure.Reason.LEAVING);
    assertThat(unlucky.refusal().failure().reason()).isEqualTo(Failure.Reason.LEAVING);
    assertThat(holder.refusal().failure().reason()).isEqualTo(Failure.Reason.LEAVING);
    assertThat(store.entries(OTHER)).isEqualTo(1);
    assertThat(store.entries(LOCK)).isZero();
    assertThat(breakdowns).containsExactly(FatalFailure.STATE_IN_DOUBT);
    assertThat(coordinator.hasFailed()).isTrue();
    assertThat(coordinator.status().failed()).isTrue();
    assertThat(coordinator.status().serving()).isFalse();
  }

  @ParameterizedTest
  @MethodSource("exceptionsAndErrors")
  void effectThatCannotBeCarriedOutEndsTheCoordinatorAsTheCoreDoes(Throwable thrown)
      throws Exception {
    // Given
    LeaseId lease = get(coordinator.openLease(TTL, "t", Optional.empty())).lease().lease();
    Heard holder = new Heard();
    coordinator.acquire(want(LOCK, Optional.of(lease), "a"), holder);
    holder.hear(Notice.Granted.class);
    // When: the deletion is an effect of the release
    faulty.breakAt("deleteEntries", thrown);
    CompletableFuture<?> release = coordinator.release(lease, "a", 0);
    // Then: the release is not called done, and nobody else gets the lock here
    assertUnavailable(release);
    Heard next = new Heard();
    coordinator.acquire(want(LOCK, Optional.empty(), "b"), next);
    assertThat(next.refusal().failure().reason()).isEqualTo(Failure.Reason.LEAVING);
    assertThat(store.entries(LOCK)).isEqualTo(1);
    assertThat(breakdowns).containsExactly(FatalFailure.STATE_IN_DOUBT);
  }

  @Test
  void whoeverWaitsIsToldAndNobodyHearsThatALockIsLost() throws Exception {
    // Given: somebody of each sort waits
    Coordinator.OpenedLease opened = get(coordinator.openLease(TTL, "t", Optional.empty()));
    Heard session = new Heard();
    Coordinator.Attachment attachment =
        coordinator.attach(opened.lease().lease(), opened.secret(), session);
    get(attachment.attached());
    attachment.acquire(want(LOCK, Optional.empty(), "a"));
    session.hear(Notice.Granted.class);
    Watcher watcher = new Watcher();
    coordinator.watch(new WatchFilter(Set.of(), ""), 0, watcher);
    get(watcher.begun);
    EntryDetails foreign = EntryDetails.foreign("192.0.2.7", Optional.empty());
    store.hold();
    store.addForeign(OTHER, "_c_00000000-0000-0000-0000-000000000001-lock-0000000000", foreign);
    final CompletableFuture<?> view = coordinator.getLock(OTHER, 10);
    final CompletableFuture<?> call = coordinator.openLease(TTL, "t", Optional.empty());
    await().until(() -> store.heldBack() >= 2);
    // When
    faulty.breakAt("pathBytes", new IllegalStateException("a bug"));
    coordinator.acquire(want(LOCK, Optional.empty(), "b"), new Heard());
    // Then
    assertUnavailable(call);
    assertUnavailable(view);
    assertThat(get(watcher.refused).failure().reason()).isEqualTo(Failure.Reason.LEAVING);
    assertThat(get(session.sentAway).message()).contains("has ended");
    assertThat(session.notices).noneMatch(Notice.Lost.class::isInstance);
    // And so is whoever comes later
    assertUnavailable(coordinator.keepAlive(opened.lease().lease()));
    assertUnavailable(coordinator.getLock(LOCK, 10));
    Watcher late = new Watcher();
    coordinator.watch(new WatchFilter(Set.of(), ""), 0, late);
    assertThat(get(late.refused).failure().reason()).isEqualTo(Failure.Reason.LEAVING);
  }

  @Test
  void storeThatFailsEndsTheCoordinatorToo() {
    // When
    store.fail(new IllegalStateException("a bug in the store"));
    store.fail(new IllegalStateException("and another"));
    // Then
    assertUnavailable(coordinator.openLease(TTL, "t", Optional.empty()));
    assertThat(breakdowns).containsExactly(FatalFailure.STATE_IN_DOUBT);
    assertThat(coordinator.status().serving()).isFalse();
  }

  @Test
  void failedCoordinatorLeavesAndStopsWithoutWaitingForAnything() throws Exception {
    // Given
    store.fail(new IllegalStateException("a bug in the store"));
    // When: with a grace that is longer than the test may take
    coordinator.leave(Duration.ofHours(1));
    coordinator.stop(Duration.ofHours(1));
    // Then
    assertUnavailable(coordinator.openLease(TTL, "t", Optional.empty()));
  }

  @Test
  void listenerThatThrowsLosesItsStreamAndNobodyElseAnything() throws Exception {
    // Given
    Broken broken = new Broken();
    // When
    coordinator.acquire(want(LOCK, Optional.empty(), "a"), broken);
    // Then
    assertThat(broken.refusal().failure().reason()).isEqualTo(Failure.Reason.UNAVAILABLE);
    Heard other = new Heard();
    coordinator.acquire(want(OTHER, Optional.empty(), "b"), other);
    other.hear(Notice.Granted.class);
    await().until(() -> coordinator.status().streams() == 1);
    assertThat(breakdowns).isEmpty();
  }

  @Test
  void leaseWhoseListenerThrowsIsToBeResumed() throws Exception {
    // Given
    Coordinator.OpenedLease opened = get(coordinator.openLease(TTL, "t", Optional.empty()));
    Broken broken = new Broken();
    Coordinator.Attachment attachment =
        coordinator.attach(opened.lease().lease(), opened.secret(), broken);
    get(attachment.attached());
    attachment.acquire(want(LOCK, Optional.empty(), "a"));
    assertThat(get(broken.sentAway).message()).isNotEmpty();
    // When
    Heard again = new Heard();
    get(coordinator.attach(opened.lease().lease(), opened.secret(), again).attached());
    // Then: what the first has missed is told again
    again.hear(Notice.Granted.class);
    assertThat(breakdowns).isEmpty();
  }

  @Test
  void observerThatThrowsCostsNobodyAnything() {
    // Given
    countingFails = true;
    Heard holder = new Heard();
    // When
    coordinator.acquire(want(LOCK, Optional.empty(), "a"), holder);
    // Then
    holder.hear(Notice.Granted.class);
    assertThat(counted).isEmpty();
    assertThat(breakdowns).isEmpty();
  }

  @Test
  void questionThatCannotBeAnsweredFailsAloneSinceItChangesNothing() {
    // Given
    faulty.breakAt("locate", new IllegalStateException("a bug"));
    // When
    CompletableFuture<LeaseLocation> where = coordinator.locate(new LeaseId(7, 8));
    // Then
    assertThat(where)
        .failsWithin(Duration.ofSeconds(60))
        .withThrowableThat()
        .withMessageContaining("a bug");
    assertThat(coordinator.openLease(TTL, "t", Optional.empty()))
        .succeedsWithin(Duration.ofSeconds(60));
    assertThat(breakdowns).isEmpty();
  }
}
