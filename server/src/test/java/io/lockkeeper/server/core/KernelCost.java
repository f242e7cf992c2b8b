package io.lockkeeper.server.core;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Event;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PathSizes;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.testing.PhaseCosts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * What a lock costs the core: runs the events of an acquire and a release, answers of ZooKeeper
 * included, on one thread, and prints the time and the bytes allocated by each. First a thousand
 * clients with a lock each, then fifty who hand one lock round. No test: run {@link #main}.
 */
public final class KernelCost {

  private static final int LOCKS = 1_000;

  /** How many hand one lock round; a divisor of the above. */
  private static final int CROWD = 50;

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

  /** One event in the life of an acquisition. */
  private enum Phase {
    ACQUIRE,
    CREATED,
    APPEARED,
    RELEASE,
    DELETED,
    VANISHED
  }

  private final Kernel kernel = new Kernel(CoreSettings.defaults(), SIZES);
  private final List<LeaseId> leases = new ArrayList<>();
  private final List<StreamId> streams = new ArrayList<>();
  private final List<StoreEvent.CreatedEntry> entries = new ArrayList<>();
  private final PhaseCosts<Phase> costs = new PhaseCosts<>(Phase.class);
  private long now = 1_000_000_000L;
  private final Random random = new Random(1);
  private long zxid = 0x1_0000_0000L;
  private long numbers;
  private int sequence;

  private KernelCost() {
    kernel.start(now);
    SessionKey session = new SessionKey(1);
    on(new SessionEvent.SessionOpened(session, Duration.ofSeconds(30).toNanos(), now, now));
    on(new StoreEvent.RebuildStarted(Set.of()));
    on(new StoreEvent.MirrorCurrent());
    for (int i = 0; i < LOCKS; i++) {
      LeaseId lease = new LeaseId(random.nextLong(), random.nextLong());
      on(
          new ClientEvent.OpenLease(
              new CallId(++numbers), lease, "hash", Duration.ofSeconds(15), "tester"));
      on(new StoreEvent.LeaseRecorded(session, lease));
      StreamId stream = new StreamId(++numbers);
      on(new ClientEvent.AttachLease(new CallId(++numbers), lease, "hash", stream));
      leases.add(lease);
      streams.add(stream);
    }
  }

  /** Prints the cost of each event, and of all of them together. */
  public static void main(String[] args) {
    measure("a lock each", KernelCost::round);
    KernelCost crowd = new KernelCost();
    crowd.enqueueAll();
    measure("one lock", crowd, KernelCost::handRound);
  }

  private static void measure(String title, Consumer<KernelCost> round) {
    measure(title, new KernelCost(), round);
  }

  private static void measure(String title, KernelCost driver, Consumer<KernelCost> round) {
    for (int i = 0; i < WARM_UP_ROUNDS; i++) {
      round.accept(driver);
    }
    driver.costs.clear();
    for (int i = 0; i < ROUNDS; i++) {
      round.accept(driver);
    }
    System.out.println(title);
    driver.costs.print((double) LOCKS * ROUNDS);
  }

  private void enqueueAll() {
    for (int i = 0; i < CROWD; i++) {
      enqueue(i);
    }
  }

  /** As many hand-overs of one lock as a round has locks: whoever releases it queues again. */
  private void handRound() {
    for (int i = 0; i < LOCKS; i++) {
      int client = i % CROWD;
      StoreEvent.CreatedEntry held = entries.remove(0);
      UUID id = held.name().id().orElseThrow();
      CallId call = new CallId(++numbers);
      run(Phase.RELEASE, new ClientEvent.Release(call, leases.get(client), id.toString(), 0));
      run(Phase.DELETED, new StoreEvent.EntriesDeleted(id));
      run(Phase.VANISHED, new StoreEvent.EntryVanished(held.lock(), held.name(), ++zxid));
      enqueue(client);
    }
  }

  private void enqueue(int client) {
    UUID id = new UUID(leases.get(client).high(), random.nextLong());
    AcquireCommand command = command(client, 0, id);
    run(
        Phase.ACQUIRE,
        new ClientEvent.Acquire(streams.get(client), id, leases.get(client), command, true));
    String text = EntryName.prefix(id, MutexKind.EXCLUSIVE) + EntryName.suffix(sequence++);
    EntryName name = EntryName.parse(text).orElseThrow();
    StoreEvent.CreatedEntry entry = new StoreEvent.CreatedEntry(lock(0), name, ++zxid, 0);
    entries.add(entry);
    run(Phase.CREATED, new StoreEvent.EntriesCreated(id, List.of(entry)));
    run(Phase.APPEARED, new StoreEvent.EntryAppeared(entry.lock(), name, entry.czxid()));
  }

  private void run(Phase phase, Event event) {
    List<Event> events = new ArrayList<>(1);
    events.add(event);
    run(phase, events);
  }

  private void round() {
    List<UUID> ids = new ArrayList<>();
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < LOCKS; i++) {
      UUID id = new UUID(leases.get(i).high(), random.nextLong());
      ids.add(id);
      events.add(
          new ClientEvent.Acquire(
              streams.get(i), id, leases.get(i), command(i, i, ids.get(i)), true));
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

  private AcquireCommand command(int client, int lock, UUID id) {
    return new AcquireCommand(
        List.of(new AcquireCommand.WantedLock(lock(lock), MutexKind.EXCLUSIVE)),
        Optional.of(leases.get(client)),
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
    costs.measure(phase, () -> events.forEach(this::on));
    events.clear();
  }

  private void on(Event event) {
    now += 1_000;
    for (Effect effect : kernel.on(event, now)) {
      if (effect instanceof StoreEffect.ProveSession prove) {
        kernel.on(new SessionEvent.SessionProved(prove.session(), now, now), now);
      }
      if (effect instanceof StoreEffect.OpenSession open) {
        Duration timeout = Duration.ofSeconds(30);
        kernel.on(new SessionEvent.SessionOpened(open.session(), timeout.toNanos(), now, now), now);
      }
    }
  }
}
