package io.lockkeeper.server.coordinator.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.server.coordinator.api.CoordinatorClock;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.coordinator.api.WatchHandle;
import io.lockkeeper.server.coordinator.api.WatchListener;
import io.lockkeeper.server.coordinator.api.WatchedChange;
import io.lockkeeper.server.core.Bench;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.LockChange;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The hub between a core on the bench and the watchers' thread; the test's thread is the loop. */
class WatchHubTest {

  private static final WatchFilter ALL = new WatchFilter(Set.of(), "");
  private static final LockName A = new LockName("a");

  private final Bench bench = Bench.unwatched();
  private final Queue<Runnable> loop = new ConcurrentLinkedQueue<>();
  private final Heard heard = new Heard();
  private final WatchHub hub =
      new WatchHub(2, loop::add, this::show, bench::hear, bench.kernel, CoordinatorClock.SYSTEM);

  private static final class Heard implements WatchListener {
    final List<String> events = new CopyOnWriteArrayList<>();

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public void onSnapshot(LockView lock) {
      events.add(lock.lock().value());
    }

    @Override
    public void onSnapshotEnd(long revision) {
      events.add("end");
    }

    @Override
    public void onChange(WatchedChange watched) {
      LockChange change = watched.change();
      events.add(
          change.cause() + " " + change.lock() + " x" + change.coalesced() + holders(change));
    }

    private static String holders(LockChange change) {
      assertThat(change.holders()).allMatch(holder -> holder.token().isPresent());
      return " held by " + change.holders().size();
    }

    @Override
    public void onGap(String reason) {
      events.add("gap");
    }

    @Override
    public void onRefused(RefusedException why) {
      events.add("refused " + why.failure().reason());
    }
  }

  private final Map<CallId, CompletableFuture<Answer.LocksShown>> asked = new LinkedHashMap<>();
  private boolean broken;

  private CompletableFuture<Answer.LocksShown> show(List<LockName> locks) {
    if (broken) {
      return CompletableFuture.failedFuture(new IllegalStateException("a bug"));
    }
    CompletableFuture<Answer.LocksShown> shown = new CompletableFuture<>();
    asked.put(bench.showToWatch(locks), shown);
    answerShown();
    return shown;
  }

  /** Hands over what the core has answered by now. */
  private void answerShown() {
    List.copyOf(asked.keySet())
        .forEach(
            call ->
                bench
                    .shownToWatch(call)
                    .ifPresent(
                        locks -> Objects.requireNonNull(asked.remove(call)).complete(locks)));
  }

  @BeforeEach
  void start() {
    hub.start();
  }

  @AfterEach
  void stop() {
    hub.stop();
  }

  private void awaitEvents(Heard listener, int count) {
    awaitEvents(listener, count, () -> {});
  }

  private void awaitEvents(Heard listener, int count, Runnable meanwhile) {
    await()
        .pollInSameThread()
        .until(
            () -> {
              for (Runnable task = loop.poll(); task != null; task = loop.poll()) {
                task.run();
                meanwhile.run();
              }
              return listener.events.size() >= count;
            });
  }

  @Test
  void watchBeyondTheCapIsRefused() {
    // Given
    hub.watch(ALL, 0, heard);
    hub.watch(ALL, 0, new Heard());
    awaitEvents(heard, 1);
    Heard second = new Heard();
    // When
    hub.watch(ALL, 0, second);
    awaitEvents(second, 1);
    // Then
    assertThat(second.events).containsExactly("refused TOO_MANY");
    assertThat(heard.events).containsExactly("end");
  }

  @Test
  void snapshotOfManyLocksIsReadInPartsAndHasThemAllInOrder() {
    // Given
    List<String> names = new ArrayList<>();
    for (int i = 100; i < 100 + 2 * Watch.PART_LOCKS; i++) {
      names.add("l" + i);
      bench.alone(Wish.named("r" + i).exclusive("l" + i));
    }
    // When
    hub.watch(new WatchFilter(Set.of(), "l"), 0, heard);
    awaitEvents(heard, names.size() + 1);
    // Then
    names.add("end");
    assertThat(heard.events).isEqualTo(names);
  }

  @Test
  void snapshotEndsThoughNewLocksKeepComing() {
    // Given: names like those of jobs, and one that is behind them all
    AtomicInteger names = new AtomicInteger(100_000);
    Runnable more =
        () -> {
          for (int i = 0; i < Watch.PART_LOCKS; i++) {
            int name = names.getAndIncrement();
            bench.alone(Wish.named("r" + name).exclusive("l" + name));
          }
        };
    bench.alone(Wish.named("scheduler").exclusive("scheduler"));
    more.run();
    // When: as many come again before the first part is read, and after each part
    hub.watch(ALL, 0, heard);
    awaitEvents(heard, 2 * Watch.PART_LOCKS + 2, more);
    // Then
    assertThat(heard.events).hasSize(2 * Watch.PART_LOCKS + 2).endsWith("scheduler", "end");
  }

  @Test
  void snapshotOfManyNamesHasThoseThatAreInUse() {
    // Given
    Set<LockName> names =
        IntStream.range(0, 200).mapToObj(i -> new LockName("l" + i)).collect(Collectors.toSet());
    bench.alone(Wish.named("r1").exclusive("l1"));
    bench.alone(Wish.named("r2").exclusive("l199"));
    bench.alone(Wish.named("r3").exclusive("other"));
    // When
    hub.watch(new WatchFilter(names, ""), 0, heard);
    awaitEvents(heard, 3);
    // Then
    assertThat(heard.events).containsExactly("l1", "l199", "end");
  }

  @Test
  void whoResumesIsToldEachChangeThatWasMissed() {
    // Given
    hub.publish(change(LockChange.Cause.QUEUED, 5));
    hub.publish(change(LockChange.Cause.GRANTED, 6));
    hub.publish(change(LockChange.Cause.RELEASED, 7));
    // When
    hub.watch(ALL, 6, heard);
    awaitEvents(heard, 2);
    // Then
    assertThat(heard.events).containsExactly("GRANTED a x1 held by 0", "RELEASED a x1 held by 0");
  }

  @Test
  void whoResumesAfterNobodyHasWatchedIsToldTheLocksAsTheyAreNow() {
    // Given
    bench.alone(Wish.named("r1").exclusive("a"));
    hub.publish(LockChange.undescribed(5, A));
    hub.publish(LockChange.undescribed(6, A));
    hub.publish(LockChange.undescribed(7, new LockName("b")));
    // When
    hub.watch(ALL, 5, heard);
    awaitEvents(heard, 2);
    // Then
    assertThat(heard.events).containsExactly("SEVERAL a x2 held by 1", "SEVERAL b x2 held by 0");
  }

  @Test
  void whoResumesIsShownNoHolderBeforeItWasRead() {
    // Given: nobody watched while another coordinator's client took the lock
    StoreEvent.CreatedEntry holder = bench.takenElsewhere("a");
    hub.publish(LockChange.undescribed(6, A));
    // When
    hub.watch(ALL, 6, heard);
    await().pollInSameThread().until(() -> runLoop() && !asked.isEmpty());
    assertThat(heard.events).isEmpty();
    bench.read(holder, EntryDetails.foreign("peer", Optional.empty()));
    answerShown();
    awaitEvents(heard, 1);
    // Then
    assertThat(heard.events).containsExactly("SEVERAL a x2 held by 1");
  }

  private boolean runLoop() {
    for (Runnable task = loop.poll(); task != null; task = loop.poll()) {
      task.run();
    }
    return true;
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 6})
  void watchThatCannotBeServedEndsRatherThanWaitForEver(long startRevision) {
    // Given
    hub.publish(LockChange.undescribed(6, A));
    broken = true;
    // When
    hub.watch(ALL, startRevision, heard);
    awaitEvents(heard, 1);
    // Then
    assertThat(heard.events).containsExactly("refused UNAVAILABLE");
    assertThat(hub.size()).isZero();
  }

  @Test
  void locksAreDescribedFromWhenTheyAreWatchedUntilAWhileAfterwards() {
    // Given
    WatchHandle watch = hub.watch(new WatchFilter(Set.of(), "x/"), 0, heard);
    hub.watch(new WatchFilter(Set.of(A), ""), 0, new Heard());
    awaitEvents(heard, 1);
    // When
    boolean watched = bench.describes("x/1") && !bench.describes("y");
    watch.close();
    runLoop();
    bench.pass(Duration.ofSeconds(20));
    boolean justLeft = bench.describes("x/2");
    bench.pass(Duration.ofSeconds(11));
    // Then
    assertThat(watched).isTrue();
    assertThat(justLeft).isTrue();
    assertThat(bench.describes("x/3")).isFalse();
  }

  @Test
  void whoResumesFromTooLongAgoBeginsAgain() {
    // Given
    hub.publish(change(LockChange.Cause.QUEUED, 5));
    // When
    hub.watch(ALL, 3, heard);
    awaitEvents(heard, 2);
    // Then
    assertThat(heard.events).containsExactly("gap", "end");
  }

  private static LockChange change(LockChange.Cause cause, long revision) {
    return new LockChange(revision, A, cause, Optional.empty(), List.of(), 0, 1);
  }
}
