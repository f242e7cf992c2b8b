package io.lockkeeper.server.core;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.ClientRequest;
import io.lockkeeper.server.core.api.CoreCounts;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Event;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.Quota;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.api.TimeEvent;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PathSizes;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.simulation.Wish;
import io.lockkeeper.server.core.state.Hold;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/** A kernel on the bench: its clock is a number, its ZooKeeper is whatever the test says. */
public final class Bench {

  static final SessionKey S1 = new SessionKey(1);
  static final SessionKey S2 = new SessionKey(2);
  public static final Duration TIMEOUT = Duration.ofSeconds(30);
  public static final Duration TTL = Duration.ofSeconds(15);
  static final int ENTRY_BYTES = 100;
  static final int LEASE_BYTES = 50;
  private static final PathSizes SIZES =
      new PathSizes() {
        @Override
        public int entryBytes(LockName lock, Mode mode) {
          return ENTRY_BYTES;
        }

        @Override
        public int leaseBytes() {
          return LEASE_BYTES;
        }
      };

  public final Kernel kernel;

  /** Whether proofs that the kernel asks for are answered at once. */
  boolean proving = true;

  /** Whether deletions that an ending waits for are done at once. */
  boolean deleting = true;

  long now = 1_000_000_000L;
  private final List<Effect> all = new ArrayList<>();
  private final Map<LockName, Integer> sequences = new HashMap<>();
  private List<Effect> last = List.of();
  private long zxid = 0x1_0000_0000L;
  private long numbers;

  /** An acquisition that was asked for. */
  public record Asked(StreamId stream, UUID id, LeaseId lease, String requestId, LockName lock) {}

  Bench(CoreSettings settings) {
    kernel = new Kernel(settings, SIZES);
  }

  static CoreSettings settings() {
    return CoreSettings.defaults();
  }

  /** A coordinator with one open session and an empty, current mirror; all locks are watched. */
  static Bench ready(CoreSettings settings) {
    Bench bench = bench(settings);
    bench.watch(Set.of(), "");
    return bench;
  }

  /** Takes an event. */
  public void hear(ClientEvent event) {
    on(event);
  }

  /** Returns whether a change of a lock is described. */
  public boolean describes(String lock) {
    String limit = MarkerName.Limit.prefix(5, AccountTag.NOBODY) + EntryName.suffix(0);
    MarkerName marker = MarkerName.parse(limit).orElseThrow();
    on(new StoreEvent.MarkerAppeared(new LockName(lock), marker, zxid()));
    return last(Effect.Publish.class).stream().noneMatch(p -> p.change().isUndescribed());
  }

  /** Somebody watches these locks, or all of the prefix. */
  void watch(Set<LockName> names, String prefix) {
    on(new ClientEvent.WatchBegan(names, prefix));
  }

  private static Bench bench(CoreSettings settings) {
    Bench bench = new Bench(settings);
    bench.keep(bench.kernel.start(bench.now));
    bench.opened(S1);
    bench.on(new StoreEvent.RebuildStarted(Set.of()));
    bench.on(new StoreEvent.MirrorCurrent());
    return bench;
  }

  public static Bench ready() {
    return ready(settings());
  }

  /** The same, while nobody watches. */
  public static Bench unwatched() {
    return bench(settings());
  }

  List<Effect> on(Event event) {
    List<Effect> effects = kernel.on(event, now);
    keep(effects);
    last = effects;
    for (Effect effect : effects) {
      if (proving && effect instanceof StoreEffect.ProveSession prove) {
        keep(kernel.on(new SessionEvent.SessionProved(prove.session(), now, now), now));
      }
      if (deleting && effect instanceof StoreEffect.DeleteEntries delete && owesEnding(delete)) {
        keep(kernel.on(new StoreEvent.EntriesDeleted(delete.id()), now));
      }
    }
    return last;
  }

  private boolean owesEnding(StoreEffect.DeleteEntries delete) {
    return Optional.ofNullable(kernel.core.acquisitions.get(delete.id()))
        .filter(acquisition -> acquisition.state().ending().isPresent())
        .isPresent();
  }

  private void keep(List<Effect> effects) {
    all.addAll(effects);
  }

  /** Lets time pass; every timer fires at its time. */
  public void pass(Duration duration) {
    long target = now + duration.toNanos();
    while (kernel.nextDeadline().isPresent() && kernel.nextDeadline().getAsLong() - target <= 0) {
      now = Math.max(now, kernel.nextDeadline().getAsLong());
      on(new TimeEvent.Tick());
    }
    now = target;
    on(new TimeEvent.Tick());
  }

  /** Lets time pass in which the client of a lease keeps it alive. */
  void keepAliveFor(LeaseId lease, Duration time) {
    long end = now + time.toNanos();
    on(new ClientEvent.KeepAlive(call(), lease));
    while (now < end) {
      pass(Duration.ofNanos(Math.min(TTL.toNanos() / 2, end - now)));
      on(new ClientEvent.KeepAlive(call(), lease));
    }
  }

  void opened(SessionKey session) {
    on(new SessionEvent.SessionOpened(session, TIMEOUT.toNanos(), now, now));
  }

  CallId call() {
    return new CallId(++numbers);
  }

  StreamId stream() {
    return new StreamId(++numbers);
  }

  long zxid() {
    return ++zxid;
  }

  LeaseId opening(Duration ttl) {
    LeaseId lease = new LeaseId(++numbers << 32, numbers);
    on(new ClientEvent.OpenLease(call(), lease, "hash", ttl, "tester"));
    return lease;
  }

  /** A lease that is counted under an account. */
  LeaseId leaseOf(String account) {
    LeaseId lease = new LeaseId(++numbers << 32, numbers);
    on(
        new ClientRequest(
            new Caller("", false, account, Quota.UNLIMITED),
            new ClientEvent.OpenLease(call(), lease, "hash", TTL, "tester")));
    recorded(lease);
    return lease;
  }

  LeaseId lease(Duration ttl) {
    LeaseId lease = opening(ttl);
    recorded(lease);
    return lease;
  }

  /** The record that was asked for last is written. */
  void recorded(LeaseId lease) {
    SessionKey session =
        all(StoreEffect.RecordLease.class).stream()
            .filter(effect -> effect.lease().equals(lease))
            .reduce((one, other) -> other)
            .orElseThrow()
            .session();
    on(new StoreEvent.LeaseRecorded(session, lease));
  }

  /** The record whose erasure was asked for last is gone. */
  void erased(LeaseId lease) {
    SessionKey session =
        all(StoreEffect.EraseLease.class).stream()
            .filter(effect -> effect.lease().equals(lease))
            .reduce((one, other) -> other)
            .orElseThrow()
            .session();
    on(new StoreEvent.LeaseErased(session, lease));
  }

  public LeaseId lease() {
    return lease(TTL);
  }

  StreamId attach(LeaseId lease) {
    StreamId stream = stream();
    on(new ClientEvent.AttachLease(call(), lease, "hash", stream));
    return stream;
  }

  static AcquireCommand command(
      Optional<LeaseId> lease, String requestId, String lock, Optional<Duration> wait) {
    return new AcquireCommand(
        List.of(new AcquireCommand.WantedLock(new LockName(lock), MutexKind.EXCLUSIVE)),
        lease,
        "",
        requestId,
        wait,
        "tester",
        Map.of(),
        Optional.empty(),
        Optional.empty(),
        Duration.ZERO,
        false,
        List.of(),
        false);
  }

  /** Asks on a stream of its own under a lease. */
  Asked acquire(LeaseId lease, String requestId, String lock) {
    return acquire(lease, command(Optional.of(lease), requestId, lock, Optional.empty()), stream());
  }

  Asked acquire(LeaseId lease, AcquireCommand command, StreamId stream) {
    UUID id = new UUID(lease.high(), ++numbers);
    on(new ClientEvent.Acquire(stream, id, lease, command, false));
    return asked(stream, id, lease, command);
  }

  /** Asks on the lease's stream, as a client does that has come with its lease. */
  Asked repeat(StreamId stream, LeaseId lease, Wish wish) {
    UUID id = new UUID(lease.high(), ++numbers);
    AcquireCommand command = wish.command(Optional.of(lease));
    on(new ClientEvent.Acquire(stream, id, lease, command, true));
    return asked(stream, id, lease, command);
  }

  /** Asks for what the wish says, on a stream of its own under a lease. */
  public Asked ask(LeaseId lease, Wish wish) {
    return acquire(lease, wish.command(Optional.of(lease)), stream());
  }

  /** Asks for what the wish says, and lets ZooKeeper create what that takes. */
  public Asked askAndCreate(LeaseId lease, Wish wish) {
    Asked asked = ask(lease, wish);
    createAll(asked);
    return asked;
  }

  /** Asks for what the wish says under a lease of its own, and lets ZooKeeper create it. */
  public Asked alone(Wish wish) {
    return askAndCreate(lease(), wish);
  }

  /** What the core wants created for the acquisition. */
  StoreEffect.CreateEntries planned(Asked asked) {
    return all(StoreEffect.CreateEntries.class).stream()
        .filter(create -> create.id().equals(asked.id()))
        .reduce((first, second) -> second)
        .orElseThrow(() -> new AssertionError("nothing is to be created"));
  }

  /** Lets one transaction of ZooKeeper create what the acquisition needs, and the mirror see it. */
  List<StoreEvent.CreatedEntry> createAll(Asked asked) {
    StoreEffect.CreateEntries effect = planned(asked);
    long created = zxid();
    List<StoreEvent.CreatedEntry> entries =
        effect.entries().stream().map(entry -> made(asked, entry, created)).toList();
    on(new StoreEvent.EntriesCreated(asked.id(), entries));
    for (StoreEvent.CreatedEntry entry : entries) {
      appear(entry);
      if (effect.lockDelayMillis() > 0) {
        MarkerName guard =
            MarkerName.Guard.of(
                asked.id(), effect.lockDelayMillis(), effect.details().terms().guardAccount());
        on(new StoreEvent.MarkerAppeared(entry.lock(), guard, created));
      }
    }
    return entries;
  }

  private StoreEvent.CreatedEntry made(Asked asked, PlannedEntry entry, long created) {
    int sequence =
        entry
            .beside()
            .map(beside -> beside.entry().sequence())
            .orElseGet(() -> sequences.merge(entry.lock(), 1, Integer::sum) - 1);
    String text = EntryName.prefix(asked.id(), entry.mode()) + EntryName.suffix(sequence);
    return new StoreEvent.CreatedEntry(
        entry.lock(), EntryName.parse(text).orElseThrow(), created, 0);
  }

  /** Lets ZooKeeper delete what the core wants deleted for the acquisition. */
  void deleteAll(Asked asked) {
    boolean wanted =
        all(StoreEffect.DeleteEntries.class).stream().anyMatch(d -> d.id().equals(asked.id()));
    if (!wanted) {
      throw new AssertionError("nothing is to be deleted");
    }
    deleted(asked);
  }

  /** Sets the number that the lock's next entry gets. */
  void nextSequence(String lock, int sequence) {
    sequences.put(new LockName(lock), sequence);
  }

  /** An entry that another coordinator, or Curator, has created. */
  StoreEvent.CreatedEntry foreign(String lock, UUID id, Mode mode) {
    LockName name = new LockName(lock);
    return foreign(name, id, mode, sequences.merge(name, 1, Integer::sum) - 1);
  }

  /** An entry that another coordinator has placed beside one. */
  StoreEvent.CreatedEntry foreignBeside(EntryName base, LockName lock, UUID id, Mode mode) {
    return foreign(lock, id, mode, base.sequence());
  }

  private StoreEvent.CreatedEntry foreign(LockName name, UUID id, Mode mode, int sequence) {
    String text = EntryName.prefix(id, mode) + EntryName.suffix(sequence);
    StoreEvent.CreatedEntry entry =
        new StoreEvent.CreatedEntry(name, EntryName.parse(text).orElseThrow(), zxid(), 0);
    appear(entry);
    return entry;
  }

  /** Has locks shown to a watch. */
  public CallId showToWatch(List<LockName> locks) {
    CallId call = call();
    on(new ClientEvent.WatchLocks(call, locks));
    return call;
  }

  /** What was shown to the watch, if that has been done. */
  public Optional<Answer.LocksShown> shownToWatch(CallId call) {
    return answers(call).stream().map(Answer.LocksShown.class::cast).findFirst();
  }

  /** Another coordinator takes a lock. */
  public StoreEvent.CreatedEntry takenElsewhere(String lock) {
    return foreign(lock, new UUID(0x99, ++numbers), MutexKind.EXCLUSIVE);
  }

  /** ZooKeeper tells what an entry of another coordinator says. */
  public void read(StoreEvent.CreatedEntry entry, EntryDetails details) {
    StoreEvent.ReadEntry read =
        new StoreEvent.ReadEntry(details, entry.czxid(), 0, Optional.empty());
    on(new StoreEvent.DetailsRead(entry.lock(), entry.name().text(), Optional.of(read)));
  }

  /** The grant of the acquisition. */
  public Notice.Granted granted(Asked asked) {
    List<Notice.Granted> grants = told(asked, Notice.Granted.class);
    if (grants.size() != 1) {
      throw new AssertionError("one grant wanted: " + told(asked));
    }
    return grants.get(0);
  }

  /** Why the acquisition was not granted. */
  Notice.NotAcquired ending(Asked asked) {
    return told(asked, Notice.NotAcquired.class).get(0);
  }

  /** Asks on the lease's own stream. */
  Asked acquireInSession(StreamId stream, LeaseId lease, String requestId, String lock) {
    UUID id = new UUID(lease.high(), ++numbers);
    AcquireCommand command = command(Optional.of(lease), requestId, lock, Optional.empty());
    on(new ClientEvent.Acquire(stream, id, lease, command, true));
    return asked(stream, id, lease, command);
  }

  /** Asks without a lease: the stream is the lease. */
  Asked acquire(String lock, Optional<Duration> wait) {
    LeaseId lease = new LeaseId(++numbers << 32, numbers);
    return acquire(lease, command(Optional.empty(), "r" + numbers, lock, wait), stream());
  }

  Asked acquire(String lock) {
    return acquire(lock, Optional.empty());
  }

  private static Asked asked(StreamId stream, UUID id, LeaseId lease, AcquireCommand command) {
    return new Asked(stream, id, lease, command.requestId(), command.locks().get(0).name());
  }

  /** The entry that ZooKeeper creates next for the acquisition. */
  StoreEvent.CreatedEntry entryOf(Asked asked) {
    int sequence = sequences.merge(asked.lock(), 1, Integer::sum) - 1;
    String text =
        EntryName.prefix(asked.id(), MutexKind.EXCLUSIVE)
            + String.format(Locale.ROOT, "%010d", sequence);
    return new StoreEvent.CreatedEntry(
        asked.lock(), EntryName.parse(text).orElseThrow(), zxid(), 0);
  }

  /** The first entry that ZooKeeper has created for the acquisition. */
  StoreEvent.CreatedEntry created(Asked asked) {
    Hold hold = kernel.core.acquisitions.get(asked.id()).holds().get(0);
    return new StoreEvent.CreatedEntry(hold.lock(), hold.name(), hold.czxid(), 0);
  }

  static EntryRef ref(StoreEvent.CreatedEntry entry) {
    return new EntryRef(entry.lock(), entry.name().text(), Optional.empty());
  }

  void answerCreated(Asked asked, StoreEvent.CreatedEntry entry) {
    on(new StoreEvent.EntriesCreated(asked.id(), List.of(entry)));
  }

  List<Effect> appear(StoreEvent.CreatedEntry entry) {
    return on(new StoreEvent.EntryAppeared(entry.lock(), entry.name(), entry.czxid()));
  }

  List<Effect> vanish(StoreEvent.CreatedEntry entry) {
    return on(new StoreEvent.EntryVanished(entry.lock(), entry.name(), zxid()));
  }

  /** Lets ZooKeeper create the acquisition's entry, and the mirror see it. */
  StoreEvent.CreatedEntry create(Asked asked) {
    StoreEvent.CreatedEntry entry = entryOf(asked);
    answerCreated(asked, entry);
    appear(entry);
    return entry;
  }

  void deleted(Asked asked) {
    on(new StoreEvent.EntriesDeleted(asked.id()));
  }

  public CallId release(Asked asked) {
    CallId call = call();
    on(new ClientEvent.Release(call, asked.lease(), asked.requestId(), 0));
    return call;
  }

  /** What the last event caused. */
  <T extends Effect> List<T> last(Class<T> type) {
    return last.stream().filter(type::isInstance).map(type::cast).toList();
  }

  /** What all events caused. */
  <T extends Effect> List<T> all(Class<T> type) {
    return all.stream().filter(type::isInstance).map(type::cast).toList();
  }

  /** All notices of an acquisition, whichever stream they went to. */
  List<Notice> told(Asked asked) {
    return told(asked.requestId());
  }

  List<Notice> told(String requestId) {
    return tells(requestId).map(Effect.Tell::notice).toList();
  }

  Stream<Effect.Tell> tells(String requestId) {
    return all(Effect.Tell.class).stream().filter(t -> t.requestId().equals(requestId));
  }

  <T extends Notice> List<T> told(Asked asked, Class<T> type) {
    return told(asked.requestId(), type);
  }

  <T extends Notice> List<T> told(String requestId, Class<T> type) {
    return told(requestId).stream().filter(type::isInstance).map(type::cast).toList();
  }

  List<StoreEffect.DeleteEntries> deletions() {
    return all(StoreEffect.DeleteEntries.class);
  }

  public boolean wasGranted(Asked asked) {
    return !told(asked, Notice.Granted.class).isEmpty();
  }

  List<Answer> answers(CallId call) {
    return all(Effect.Reply.class).stream()
        .filter(reply -> reply.call().equals(call))
        .map(Effect.Reply::answer)
        .toList();
  }

  /** The only answer that the call got. */
  Answer answer(CallId call) {
    List<Answer> answers = answers(call);
    if (answers.size() != 1) {
      throw new AssertionError("one answer wanted: " + answers);
    }
    return answers.get(0);
  }

  Failure.Reason failure(CallId call) {
    return ((Answer.Failed) answer(call)).failure().reason();
  }

  /** Why the acquisition was refused. */
  public List<Failure.Reason> refusals(StreamId stream) {
    return all(Effect.Refuse.class).stream()
        .filter(refuse -> refuse.stream().equals(stream))
        .map(refuse -> refuse.failure().reason())
        .toList();
  }

  long validFor(CallId call) {
    return ((Answer.LeaseRenewed) answer(call)).validForNanos();
  }

  CoreCounts counts() {
    return kernel.counts(now);
  }

  void assertNothingIsLeft() {
    CoreCounts counts = counts();
    if (counts.leases() + counts.acquisitions() + counts.locks() + counts.entries() != 0) {
      throw new AssertionError("left over: " + counts);
    }
  }
}
