package io.lockkeeper.server.core.takeover;

import io.lockkeeper.server.core.acquire.AdoptionGrace;
import io.lockkeeper.server.core.acquire.Grants;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Promises;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.SessionEvent.AdoptedEntry;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryTerms;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.request.AcquireHandler;
import io.lockkeeper.server.core.request.Leases;
import io.lockkeeper.server.core.session.LockSession;
import io.lockkeeper.server.core.session.SessionPool;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AdoptedState;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import io.lockkeeper.server.core.state.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Takes over what a lock session of another coordinator owns: its leases with their acquisitions,
 * as far as their records and entries tell.
 *
 * <p>The coordinator before may have vouched for all of it until its own bound of the session,
 * which rests on a proof that was sent before the claim was taken: so, up to one session timeout
 * after that. Until then what its client has not come for is {@linkplain AdoptionGrace dormant}.
 */
public final class Adoptions {

  /** A place in a queue, where all is of one owner. */
  private record LockSequence(LockName lock, int sequence) {}

  private final CoreState core;
  private final SessionPool pool;
  private final Leases leases;
  private final AdoptionGrace grace;
  private final MirrorRebuilds rebuilds;
  private final Grants grants;
  private final DeposedLeases deposedLeases;
  private final AcquireHandler acquireHandler;

  public Adoptions(
      CoreState core,
      SessionPool pool,
      Leases leases,
      AdoptionGrace grace,
      MirrorRebuilds rebuilds,
      Grants grants,
      DeposedLeases deposedLeases,
      AcquireHandler acquireHandler) {
    this.acquireHandler = acquireHandler;
    this.deposedLeases = deposedLeases;
    this.core = core;
    this.pool = pool;
    this.leases = leases;
    this.grace = grace;
    this.rebuilds = rebuilds;
    this.grants = grants;
  }

  public void onAdopted(SessionEvent.SessionAdopted event) {
    pool.onAdopted(event).ifPresent(session -> takeOver(session, event));
  }

  /**
   * Renews no lease any more, and records for whoever adopts the sessions for how long clients can
   * rely on each.
   */
  public void onLeaving() {
    core.leaving = true;
    for (LockSession session : pool.all()) {
      core.emit(new StoreEffect.RecordPromises(session.key(), promisesOn(session)));
    }
  }

  private Promises promisesOn(LockSession session) {
    Map<String, Duration> promised = new HashMap<>();
    Map<UUID, Duration> waiters = new HashMap<>();
    for (Lease lease : leases.on(session)) {
      promised.put(lease.id().tag(), lease.promised(core.now, core.settings.tick().toNanos()));
      for (Acquisition acquisition : lease.acquisitions().values()) {
        grace
            .withdrawnAtNanos(acquisition)
            .ifPresent(
                at -> {
                  // Its client may be on its way to the next coordinator.
                  long left = Math.max(repeatNanos(), at - core.now);
                  waiters.put(acquisition.id(), Duration.ofNanos(left));
                });
      }
    }
    return new Promises(promised, waiters);
  }

  private long repeatNanos() {
    return core.settings.linger().toNanos();
  }

  private void takeOver(LockSession session, SessionEvent.SessionAdopted event) {
    for (SessionEvent.AdoptedLease record : event.leases()) {
      leaveBehind(record.lease());
      leases.adopt(Lease.adopted(record, session.key(), event, repeatNanos()), session);
    }
    List<Acquisition> acquisitions = new ArrayList<>();
    Set<Lease> remains = new LinkedHashSet<>();
    byAcquisition(event.entries())
        .forEach(
            entries -> {
              Lease lease = leaseOf(describing(entries), session, event);
              if (lease.isStream()) {
                remains.add(lease);
              }
              acquisitions.add(restore(lease, session, entries));
            });
    awaitMirror(acquisitions);
    acquisitions.forEach(grants::bind);
    event.leases().forEach(record -> createAgain(record.lease(), session));
    acquisitions.stream().filter(Adoptions::isIncomplete).forEach(rebuilds::remove);
    // What it granted last its clients may rely on, even if it is dead for certain.
    leases.on(session).stream()
        .collect(Collectors.groupingBy(Lease::awakeAtNanos))
        .forEach((at, same) -> core.timers.at(at, () -> same.forEach(grace::wakeAll)));
    event
        .promises()
        .ifPresent(
            promises ->
                acquisitions.forEach(
                    acquisition ->
                        Optional.ofNullable(promises.waiters().get(acquisition.id()))
                            .ifPresent(
                                in ->
                                    grace.withdrawAt(
                                        acquisition, event.takenAtNanos() + in.toNanos()))));
    Set<LeaseId> streams = streamsOf(event.entries());
    remains.forEach(lease -> endRemains(lease, streams.contains(lease.id())));
    rebuilds.verify(acquisitions);
    pool.closeEmpty(session);
  }

  /**
   * What this coordinator granted ahead of its creation, before it lost the session for a while.
   */
  private void createAgain(LeaseId id, LockSession session) {
    List<Acquisition> granted = deposedLeases.takeGrantedAhead(id);
    leases
        .find(id)
        .ifPresent(
            lease -> granted.forEach(before -> acquireHandler.createAgain(before, lease, session)));
  }

  /** The mirror may be behind, and show some of what is at one place and not the rest. */
  private static void awaitMirror(List<Acquisition> acquisitions) {
    Map<LockSequence, Hold> first = new HashMap<>();
    for (Acquisition acquisition : acquisitions) {
      for (Hold hold : acquisition.holds()) {
        LockSequence place = new LockSequence(hold.lock(), hold.name().sequence());
        hold.joins(first.getOrDefault(place, hold));
        if (!hold.name().isStuck()) {
          first.putIfAbsent(place, hold);
        }
      }
    }
  }

  /** All entries of a request are created together, so that some have been taken away. */
  private static boolean isIncomplete(Acquisition acquisition) {
    return acquisition
        .adoptedState()
        .filter(from -> acquisition.holds().size() < from.locks())
        .isPresent();
  }

  /** We had the session before, another adopted it meanwhile, and we have not been told yet. */
  private void leaveBehind(LeaseId id) {
    leases.find(id).ifPresent(deposedLeases::forget);
  }

  /** Groups entries by the acquisition that they were created for, in the order of its request. */
  private static Collection<List<AdoptedEntry>> byAcquisition(List<AdoptedEntry> entries) {
    Map<UUID, List<AdoptedEntry>> groups = new LinkedHashMap<>();
    for (AdoptedEntry entry : entries) {
      groups.computeIfAbsent(uuidOf(entry), id -> new ArrayList<>(1)).add(entry);
    }
    groups.values().forEach(Adoptions::sort);
    return groups.values();
  }

  /** What somebody has written over does not tell its place: it has one that is left. */
  private static void sort(List<AdoptedEntry> entries) {
    List<AdoptedEntry> unplaced = entries.stream().filter(e -> !isDescribed(e)).toList();
    entries.removeAll(unplaced);
    entries.sort(Comparator.comparingInt(entry -> entry.read().ordinal()));
    int place = 0;
    for (AdoptedEntry entry : unplaced) {
      while (place < entries.size() && entries.get(place).read().ordinal() == place) {
        place++;
      }
      entries.add(place++, entry);
    }
  }

  private static boolean isDescribed(AdoptedEntry entry) {
    return !entry.read().details().requestId().isEmpty();
  }

  /** Returns an entry that says what was asked for, if there is one. */
  private static AdoptedEntry describing(List<AdoptedEntry> entries) {
    return entries.stream().filter(Adoptions::isDescribed).findFirst().orElse(entries.get(0));
  }

  private static UUID uuidOf(AdoptedEntry entry) {
    return entry.name().id().orElseGet(() -> new UUID(0, entry.read().czxid()));
  }

  /** Returns the lease of an entry: one with a record, or what is left of one that has none. */
  private Lease leaseOf(
      AdoptedEntry entry, LockSession session, SessionEvent.SessionAdopted adoption) {
    Optional<LeaseId> named = LeaseId.parse(entry.read().details().leaseId());
    long tag = named.map(LeaseId::high).orElse(uuidOf(entry).getMostSignificantBits());
    Optional<Lease> known =
        Optional.ofNullable(core.leasesByTag.get(tag))
            .filter(lease -> lease.session().equals(session.key()));
    return known.orElseGet(
        () -> {
          LeaseId id = named.orElse(new LeaseId(tag, 0));
          leaveBehind(id);
          String holder = entry.read().details().holder();
          return leases.adopt(
              Lease.remains(id, session.key(), holder, adoption, repeatNanos()), session);
        });
  }

  private Acquisition restore(Lease lease, LockSession session, List<AdoptedEntry> entries) {
    AdoptedEntry first = describing(entries);
    EntryDetails details = first.read().details();
    // Of whose request it is nothing is known where somebody has written over what it said.
    int locks = details.requestId().isEmpty() ? 0 : details.terms().locks();
    AdoptedState adoptedState = new AdoptedState(locks, core.now, lease.awakeAtNanos());
    AcquireCommand command = command(lease, entries);
    boolean ownStream = details.terms().ownStream();
    Acquisition acquisition =
        Acquisition.adopted(uuidOf(first), lease, command, entries, ownStream, adoptedState);
    details
        .needsMillis()
        .ifPresent(millis -> acquisition.description().needs(Duration.ofMillis(millis), core.now));
    session.addPathBytes(acquisition, core.pathSizes.bytesOf(acquisition.planned()));
    core.add(acquisition);
    return acquisition;
  }

  private static AcquireCommand command(Lease lease, List<AdoptedEntry> entries) {
    AdoptedEntry first = describing(entries);
    EntryDetails details = first.read().details();
    EntryTerms terms = details.terms();
    return new AcquireCommand(
        entries.stream()
            .map(entry -> new AcquireCommand.WantedLock(entry.lock(), entry.name().mode()))
            .toList(),
        Optional.of(lease.id()),
        details.owner(),
        details.requestId().isEmpty() ? uuidOf(first).toString() : details.requestId(),
        terms.waitTimeout(),
        details.holder(),
        details.metadata(),
        Optional.empty(),
        terms.maxHold(),
        terms.lockDelay(),
        details.unsearched(),
        List.of(),
        false);
  }

  /** Returns the leases that were streams. */
  private static Set<LeaseId> streamsOf(List<AdoptedEntry> entries) {
    return entries.stream()
        .map(entry -> entry.read().details())
        .filter(EntryDetails::streamBound)
        .flatMap(details -> LeaseId.parse(details.leaseId()).stream())
        .collect(Collectors.toSet());
  }

  /**
   * Ends what has no record. A lease that was a stream ended with its stream, but for its client
   * only when it knows; one whose record was gone had ended before.
   */
  private void endRemains(Lease lease, boolean streamBound) {
    if (streamBound && lease.mayBeVouchedElsewhere(core.now)) {
      core.timers.at(lease.vouchedUntilNanos(), () -> leases.end(lease, LeaseEnd.EXPIRED));
    } else {
      leases.end(lease, LeaseEnd.EXPIRED);
    }
  }
}
