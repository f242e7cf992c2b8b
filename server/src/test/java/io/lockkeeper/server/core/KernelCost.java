package io.lockkeeper.server.core;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;

/**
 * What a lock costs the core: runs the events of an acquire and a release, answers of ZooKeeper
 * included, over a thousand locks on one thread, and prints the time and the bytes allocated by
 * each. No test: run {@link #main}.
 */
public final class KernelCost {

  private static final int LOCKS = 1_000;
  private static final int WARM_UP_ROUNDS = 300;
  private static final int ROUNDS = 300;
  private static final PathSizes SIZES =
      new PathSizes() {
        @Override
        public int entryBytes(LockName lock, Mode mode) {
          return 100;
        }

        @Override
        public int leaseBytes() {
          return 50;
        }
      };
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** One event in the life of an acquisition that never waits. */
  private enum Phase {
    ACQUIRE,
    CREATED,
    APPEARED,
    RELEASE,
    DELETED,
    VANISHED
  }

  /** What was spent on one phase. */
  private static final class Cost {
    private long nanos;
    private long bytes;
  }

  private final Kernel kernel = new Kernel(CoreSettings.defaults(), SIZES);
  private final List<LeaseId> leases = new ArrayList<>();
  private final List<StreamId> streams = new ArrayList<>();
  private final List<StoreEvent.CreatedEntry> entries = new ArrayList<>();
  private final Map<Phase, Cost> costs = new EnumMap<>(Phase.class);
  private long now = 1_000_000_000L;
  private final Random random = new Random(1);
  private long zxid = 0x1_0000_0000L;
  private long numbers;

  private KernelCost() {
    kernel.start(now);
    SessionKey session = new SessionKey(1);
    on(new SessionEvent.SessionOpened(session, Duration.ofSeconds(30).toNanos(), now));
    on(new StoreEvent.RebuildStarted(Set.of()));
    on(new StoreEvent.MirrorCurrent());
    kernel.describeChanges(false);
    for (int i = 0; i < LOCKS; i++) {
      LeaseId lease = new LeaseId(random.nextLong(), random.nextLong());
      on(
          new ClientEvent.OpenLease(
              new CallId(++numbers), lease, "hash", Duration.ofSeconds(15), "tester"));
      on(new StoreEvent.LeaseRecorded(lease));
      StreamId stream = new StreamId(++numbers);
      on(new ClientEvent.AttachLease(new CallId(++numbers), lease, "hash", stream));
      leases.add(lease);
      streams.add(stream);
    }
  }

  /** Prints the cost of each event, and of all of them together. */
  public static void main(String[] args) {
    KernelCost driver = new KernelCost();
    for (int round = 0; round < WARM_UP_ROUNDS; round++) {
      driver.round();
    }
    driver.costs.clear();
    for (int round = 0; round < ROUNDS; round++) {
      driver.round();
    }
    driver.print();
  }

  private void round() {
    List<UUID> ids = new ArrayList<>();
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < LOCKS; i++) {
      UUID id = new UUID(leases.get(i).high(), random.nextLong());
      ids.add(id);
      events.add(
          new ClientEvent.Acquire(streams.get(i), id, leases.get(i), command(i, ids.get(i)), true));
    }
    run(Phase.ACQUIRE, events);
    entries.clear();
    for (int i = 0; i < LOCKS; i++) {
      String text = EntryName.prefix(ids.get(i), MutexKind.EXCLUSIVE) + EntryName.suffix(i);
      entries.add(
          new StoreEvent.CreatedEntry(lock(i), EntryName.parse(text).orElseThrow(), ++zxid, 0));
      events.add(new StoreEvent.EntriesCreated(ids.get(i), List.of(entries.get(i))));
    }
    run(Phase.CREATED, events);
    for (StoreEvent.CreatedEntry entry : entries) {
      EntryName seen = EntryName.parse(entry.name().text()).orElseThrow();
      events.add(new StoreEvent.EntryAppeared(entry.lock(), seen, entry.czxid()));
    }
    run(Phase.APPEARED, events);
    for (int i = 0; i < LOCKS; i++) {
      CallId call = new CallId(++numbers);
      events.add(new ClientEvent.Release(call, leases.get(i), ids.get(i).toString(), 0));
    }
    run(Phase.RELEASE, events);
    ids.forEach(id -> events.add(new StoreEvent.EntriesDeleted(id)));
    run(Phase.DELETED, events);
    for (StoreEvent.CreatedEntry entry : entries) {
      EntryName seen = EntryName.parse(entry.name().text()).orElseThrow();
      events.add(new StoreEvent.EntryVanished(entry.lock(), seen, ++zxid));
    }
    run(Phase.VANISHED, events);
    if (kernel.counts(now).acquisitions() != 0) {
      throw new IllegalStateException("acquisitions are left behind");
    }
  }

  private static LockName lock(int i) {
    return new LockName("bench/own-" + i);
  }

  private AcquireCommand command(int i, UUID id) {
    return new AcquireCommand(
        List.of(new AcquireCommand.WantedLock(lock(i), MutexKind.EXCLUSIVE)),
        Optional.of(leases.get(i)),
        "",
        id.toString(),
        Optional.of(Duration.ofSeconds(30)),
        "tester",
        Map.of(),
        Optional.empty(),
        Optional.empty(),
        Duration.ZERO,
        true);
  }

  private void run(Phase phase, List<Event> events) {
    long thread = Thread.currentThread().getId();
    long bytes = THREADS.getThreadAllocatedBytes(thread);
    long start = System.nanoTime();
    for (Event event : events) {
      on(event);
    }
    long end = System.nanoTime();
    Cost cost = costs.computeIfAbsent(phase, p -> new Cost());
    cost.nanos += end - start;
    cost.bytes += THREADS.getThreadAllocatedBytes(thread) - bytes;
    events.clear();
  }

  private void on(Event event) {
    now += 1_000;
    for (Effect effect : kernel.on(event, now)) {
      if (effect instanceof SessionEffect.ProveSession prove) {
        kernel.on(new SessionEvent.SessionProved(prove.session(), now), now);
      }
      if (effect instanceof SessionEffect.OpenSession open) {
        Duration timeout = Duration.ofSeconds(30);
        kernel.on(new SessionEvent.SessionOpened(open.session(), timeout.toNanos(), now), now);
      }
    }
  }

  private void print() {
    double count = (double) LOCKS * ROUNDS;
    Cost all = new Cost();
    costs.forEach(
        (phase, cost) -> {
          print(phase.name(), cost, count);
          all.nanos += cost.nanos;
          all.bytes += cost.bytes;
        });
    print("TOGETHER", all, count);
  }

  private static void print(String name, Cost cost, double count) {
    System.out.printf("%-10s %7.0f ns %7.0f bytes%n", name, cost.nanos / count, cost.bytes / count);
  }
}
