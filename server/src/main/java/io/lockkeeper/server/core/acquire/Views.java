package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.FreezeView;
import io.lockkeeper.server.core.api.LeaseView;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.queue.LockQueue;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import io.lockkeeper.server.core.state.Lease;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.function.ToIntBiFunction;
import java.util.stream.Stream;

/** Shows queues and leases to people and clients. */
public final class Views {

  /** How many holders of a lock are shown where they are not what was asked for. */
  private static final int FEW_HOLDERS = 16;

  /** Shown for the name of somebody whose entry has not been read. */
  private static final String NOT_KNOWN = "(not known yet)";

  /** How many are shown of a lock, and so may have to be read for it. */
  private static final int MAX_HOLDERS = 1_000;

  private final CoreState core;
  private final LockDelays delays;
  private final Freezes freezes;

  public Views(CoreState core, LockDelays delays, Freezes freezes) {
    this.core = core;
    this.freezes = freezes;
    this.delays = delays;
  }

  /**
   * Returns whether it is known whose an entry is and, of a holder, its token: only then it may be
   * shown.
   */
  public static boolean isNamed(Entry entry, boolean holder) {
    return entry.isDescribed() && (!holder || entry.token().isPresent());
  }

  /** Shows an entry; {@code holder} says whether as one that holds. */
  Contender contender(Entry entry, boolean holder) {
    Optional<Acquisition> acquisition = Acquisition.of(entry);
    return acquisition.isPresent() ? own(entry, holder, acquisition.get()) : read(entry, holder);
  }

  private Contender own(Entry entry, boolean holder, Acquisition acquisition) {
    AcquireCommand command = acquisition.command();
    return contender(
        entry,
        holder,
        tag(entry),
        command.requestId(),
        command.owner(),
        acquisition.lease().holderOf(command),
        acquisition.description().metadata());
  }

  /** An entry that another coordinator serves, or somebody else: it is known if it was read. */
  private Contender read(Entry entry, boolean holder) {
    if (entry.details().isEmpty()) {
      return contender(entry, holder, "", "", "", NOT_KNOWN, Map.of());
    }
    EntryDetails details = entry.details().get();
    return contender(
        entry,
        holder,
        details.leaseId().isEmpty() ? "" : tag(entry),
        details.requestId(),
        details.owner(),
        details.holder(),
        details.metadata());
  }

  private static String tag(Entry entry) {
    Optional<UUID> id = entry.name().id();
    return id.isPresent() ? LeaseId.tagOf(id.get().getMostSignificantBits()) : "";
  }

  private Contender contender(
      Entry entry,
      boolean holds,
      String leaseTag,
      String requestId,
      String owner,
      String holder,
      Map<String, String> metadata) {
    return new Contender(
        leaseTag,
        requestId,
        owner,
        holder,
        entry.mode(),
        metadata,
        core.now - entry.seenAtNanos(),
        holds && entry.holds() ? Optional.of(core.now - entry.heldSinceNanos()) : Optional.empty(),
        holds ? entry.token() : Optional.empty(),
        holds ? entry.needsNanos(core.now) : Optional.empty(),
        entry.name().text(),
        entry.wasFound());
  }

  /** Shows holders of whom it is known who they are, in the order of the queue. */
  public List<Contender> holders(Collection<Entry> entries) {
    return shown(entries, true, false);
  }

  private List<Contender> shown(Collection<Entry> entries, boolean holders, boolean everybody) {
    List<Contender> contenders = new ArrayList<>(entries.size());
    for (Entry entry : entries) {
      if (everybody || isNamed(entry, holders)) {
        contenders.add(contender(entry, holders));
      }
    }
    return List.copyOf(contenders);
  }

  /**
   * Returns the contenders of at most 16 holders: what a notice carries. It does not wait for those
   * that are not known yet, and leaves them out.
   */
  List<Contender> fewHolders(LockQueue queue) {
    return holders(firstHolders(queue, FEW_HOLDERS));
  }

  /** Returns the holders that a notice would carry if they were known. */
  public List<NodeKey> unnamedHolders(LockName lock) {
    Optional<LockQueue> queue = core.mirror.queue(lock);
    if (queue.isEmpty()) {
      return List.of();
    }
    List<NodeKey> unnamed = new ArrayList<>(0);
    for (Entry entry : firstHolders(queue.get(), FEW_HOLDERS)) {
      if (!isNamed(entry, true)) {
        unnamed.add(new NodeKey(lock, entry.name().text()));
      }
    }
    return unnamed;
  }

  /**
   * A lock as it was at one moment. Whoever is not known yet may be read before it is shown.
   *
   * @param lock the lock
   * @param holders the first of those who hold
   * @param queueLength how many wait
   * @param queue the first of those who wait
   * @param queueLimit how many of them were asked for
   * @param revision the newest zxid that changed this lock, zero if not known
   * @param configuredLimit the limit of permits that was configured, if one was
   * @param delayedForNanos how long until the next grant, while a delay is running
   * @param frozen the freeze that the lock is under, if it is
   */
  public record Seen(
      LockName lock,
      List<Entry> holders,
      int queueLength,
      List<Entry> queue,
      int queueLimit,
      long revision,
      OptionalInt configuredLimit,
      Optional<Long> delayedForNanos,
      Optional<FreezeView> frozen) {

    /** Returns the entries of which too little is known to be shown. */
    Stream<NodeKey> unnamed() {
      return Stream.concat(
              holders.stream().filter(entry -> !isNamed(entry, true)),
              queue.stream().filter(entry -> !isNamed(entry, false)))
          .map(entry -> new NodeKey(lock, entry.name().text()));
    }
  }

  /** Looks at a lock with its holders and its first waiters. */
  public Seen see(LockName lock, int queueLimit) {
    Optional<LockQueue> queue = core.mirror.queue(lock);
    return new Seen(
        lock,
        queue.map(Views::firstHolders).orElse(List.of()),
        queue.map(LockQueue::waiting).orElse(0),
        queue.map(q -> q.waiters(queueLimit)).orElse(List.of()),
        queueLimit,
        queue.map(LockQueue::revision).orElse(0L),
        core.mirror.limit(lock),
        delays.leftNanos(lock),
        freezes.of(lock));
  }

  /** Returns as many holders of a lock as are shown of it, in the order of the queue. */
  static List<Entry> firstHolders(LockQueue queue) {
    return List.copyOf(firstHolders(queue, MAX_HOLDERS));
  }

  private static List<Entry> firstHolders(LockQueue queue, int most) {
    List<Entry> all = queue.holders();
    return all.size() > most ? all.subList(0, most) : all;
  }

  /** Shows a lock as it was when it was looked at, but for those of whom too little is known. */
  LockView showNamed(Seen seen) {
    return show(seen, false);
  }

  /** Shows everybody: a lock that is held must not look free because nobody knows yet by whom. */
  public LockView showAll(Seen seen) {
    return show(seen, true);
  }

  private LockView show(Seen seen, boolean everybody) {
    return new LockView(
        seen.lock(),
        shown(seen.holders(), true, everybody),
        seen.queueLength(),
        shown(seen.queue(), false, everybody),
        seen.revision(),
        seen.configuredLimit(),
        seen.delayedForNanos(),
        seen.frozen());
  }

  /** Returns where an acquisition stands in the queues that it waits in. */
  public List<Notice.Place> places(Acquisition acquisition) {
    return places(acquisition, LockQueue::ahead);
  }

  /** Returns about where it stands: cheap enough to be asked for often by all who wait. */
  List<Notice.Place> recentPlaces(Acquisition acquisition, long patienceNanos) {
    return places(
        acquisition, (queue, entry) -> queue.recentlyAhead(entry, core.now, patienceNanos));
  }

  private List<Notice.Place> places(
      Acquisition acquisition, ToIntBiFunction<LockQueue, Entry> aheadOf) {
    List<Notice.Place> places = new ArrayList<>(acquisition.holds().size());
    for (Hold hold : acquisition.holds()) {
      Optional<LockQueue> queue = core.mirror.queue(hold.lock());
      Optional<Entry> entry = hold.entryIn(core.mirror);
      Optional<FreezeView> frozen = freezes.of(hold.lock());
      // Who is first may look like a holder in a freeze, and waits all the same.
      if (entry.isPresent() && (frozen.isPresent() || !entry.get().holds())) {
        int ahead = aheadOf.applyAsInt(queue.get(), entry.get());
        places.add(new Notice.Place(queue.get().lock(), ahead, fewHolders(queue.get()), frozen));
      }
    }
    return List.copyOf(places);
  }

  /**
   * The same without the holders' metadata: thousands of them fit one stream when a lease is told
   * again.
   */
  List<Notice.Place> briefPlaces(Acquisition acquisition) {
    return places(acquisition).stream()
        .map(
            place ->
                new Notice.Place(
                    place.lock(),
                    place.ahead(),
                    place.holders().stream().map(Contender::withoutMetadata).toList(),
                    place.frozen()))
        .toList();
  }

  /** Says why a request is granted nothing, if one of its locks is frozen. */
  Optional<String> whyFrozen(Acquisition acquisition) {
    return freezes.inWords(acquisition.command());
  }

  /**
   * Returns whether a request that looks as if it waited may have been granted by another
   * coordinator: during a lock delay or a freeze the queue does not show it, and its client has not
   * said it yet. Then it must not be ended as one that waits.
   */
  boolean mayHoldUnseen(Acquisition acquisition) {
    return acquisition.isUnrepeated()
        && (isDelayed(acquisition) || whyFrozen(acquisition).isPresent());
  }

  /**
   * Returns whether an acquisition may have held its locks. If its client has not returned, another
   * coordinator can have granted permits that exceed a limit which was reduced since.
   */
  boolean mayHaveHeld(Acquisition acquisition) {
    return acquisition.mayHaveHeld()
        || (acquisition.isUnrepeated()
            && acquisition.holds().stream().anyMatch(this::isOfReducedLimit));
  }

  private boolean isOfReducedLimit(Hold hold) {
    OptionalInt limit = core.mirror.limit(hold.lock());
    return limit.isPresent() && limit.getAsInt() < hold.mode().capacity();
  }

  /** Returns whether a lock delay is running of one of the locks that an acquisition asks for. */
  boolean isDelayed(Acquisition acquisition) {
    return acquisition.command().locks().stream()
        .anyMatch(wanted -> delays.isDelayed(wanted.name()));
  }

  /** Returns who holds the locks that an acquisition asks for. */
  List<Contender> holdersFor(Acquisition acquisition) {
    return acquisition.command().locks().stream()
        .flatMap(wanted -> core.mirror.queue(wanted.name()).stream())
        .flatMap(queue -> fewHolders(queue).stream())
        .filter(contender -> !contender.entry().contains(acquisition.id().toString()))
        .limit(FEW_HOLDERS)
        .toList();
  }

  /** Shows a lease with what it holds. */
  public LeaseView lease(Lease lease, int limit) {
    return new LeaseView(
        lease.id().tag(),
        lease.holder(),
        lease.isStream() ? Optional.empty() : Optional.of(lease.ttlNanos()),
        lease.isStream()
            ? Optional.empty()
            : Optional.of(Math.max(0, lease.deadlineNanos() - core.now)),
        lease.acquisitions().size(),
        lease.acquisitions().values().stream()
            .limit(limit)
            .map(
                acquisition ->
                    new LeaseView.Held(
                        acquisition.command().requestId(),
                        acquisition.command().locks().stream()
                            .map(AcquireCommand.WantedLock::name)
                            .toList(),
                        acquisition.state().isHeld()))
            .toList());
  }
}
