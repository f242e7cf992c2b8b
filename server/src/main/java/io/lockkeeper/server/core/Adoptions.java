package io.lockkeeper.server.core;

import io.lockkeeper.server.core.SessionEvent.AdoptedEntry;
import java.time.Duration;
import java.util.ArrayList;
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
 * after that. Until then what its client has not come for is {@linkplain Dormancy dormant}.
 */
final class Adoptions {

  private final World world;
  private final Sessions sessions;
  private final Leases leases;
  private final LeaseEndings endings;
  private final Dormancy dormancy;
  private final Rebuilds rebuilds;
  private final Grants grants;
  private final Handovers handovers;

  Adoptions(
      World world,
      Sessions sessions,
      Leases leases,
      LeaseEndings endings,
      Dormancy dormancy,
      Rebuilds rebuilds,
      Grants grants,
      Handovers handovers) {
    this.handovers = handovers;
    this.world = world;
    this.sessions = sessions;
    this.leases = leases;
    this.endings = endings;
    this.dormancy = dormancy;
    this.rebuilds = rebuilds;
    this.grants = grants;
  }

  void onAdopted(SessionEvent.SessionAdopted event) {
    sessions.onAdopted(event).ifPresent(session -> takeOver(session, event));
  }

  private void takeOver(LockSession session, SessionEvent.SessionAdopted event) {
    // A coordinator that is dead for certain vouches for nothing any more.
    long vouchedUntil = event.takenAtNanos() + (event.certain() ? 0 : event.timeoutNanos());
    for (SessionEvent.AdoptedLease record : event.leases()) {
      leaveBehind(record.lease());
      leases.adopt(Lease.adopted(record, session.key(), vouchedUntil), session);
    }
    List<Ticket> tickets = new ArrayList<>();
    Set<Lease> remains = new LinkedHashSet<>();
    byAcquisition(event.entries())
        .values()
        .forEach(
            entries -> {
              AdoptedEntry first = entries.get(0);
              Lease lease = leaseOf(first, session, vouchedUntil);
              if (lease.isStream()) {
                remains.add(lease);
              }
              tickets.add(restore(lease, session, entries));
            });
    tickets.forEach(grants::rebind);
    // What it granted last its clients may rely on, even if it is dead for certain.
    world.timers.at(
        event.takenAtNanos() + event.timeoutNanos(),
        () -> leases.on(session).forEach(dormancy::wakeAll));
    Set<LeaseId> streams = streamsOf(event.entries());
    remains.forEach(lease -> endRemains(lease, streams.contains(lease.id()), vouchedUntil));
    rebuilds.verify(tickets);
    sessions.closeEmpty(session);
  }

  /** We had the session before, another adopted it meanwhile, and we have not been told yet. */
  private void leaveBehind(LeaseId id) {
    leases.find(id).ifPresent(handovers::forget);
  }

  /** Groups entries by the acquisition that they are for now, which need not have created them. */
  private static Map<String, List<AdoptedEntry>> byAcquisition(List<AdoptedEntry> entries) {
    Map<String, List<AdoptedEntry>> groups = new LinkedHashMap<>();
    for (AdoptedEntry entry : entries) {
      EntryDetails details = entry.read().details();
      String key =
          details.requestId().isEmpty()
              ? uuidOf(entry).toString()
              : details.leaseId() + "/" + details.requestId();
      groups.computeIfAbsent(key, k -> new ArrayList<>(1)).add(entry);
    }
    return groups;
  }

  private static UUID uuidOf(AdoptedEntry entry) {
    return entry.name().id().orElseGet(() -> new UUID(0, entry.read().czxid()));
  }

  /** Returns the lease of an entry: one with a record, or what is left of one that has none. */
  private Lease leaseOf(AdoptedEntry entry, LockSession session, long vouchedUntil) {
    Optional<LeaseId> named = LeaseId.parse(entry.read().details().leaseId());
    long tag = named.map(LeaseId::high).orElse(uuidOf(entry).getMostSignificantBits());
    Optional<Lease> known =
        Optional.ofNullable(world.leasesByTag.get(tag))
            .filter(lease -> lease.session().equals(session.key()));
    return known.orElseGet(
        () -> {
          LeaseId id = named.orElse(new LeaseId(tag, 0));
          leaveBehind(id);
          String holder = entry.read().details().holder();
          return leases.adopt(Lease.remains(id, session.key(), holder, vouchedUntil), session);
        });
  }

  private Ticket restore(Lease lease, LockSession session, List<AdoptedEntry> entries) {
    AdoptedEntry first = entries.get(0);
    EntryTerms terms = first.read().details().terms();
    Ticket ticket =
        new Ticket(
            unused(uuidOf(first)),
            lease,
            command(lease, entries),
            entries.stream().map(Adoptions::part).toList(),
            Optional.of(new Revival(terms.locks(), first.ageNanos())),
            terms.ownStream());
    first
        .read()
        .details()
        .needsMillis()
        .ifPresent(millis -> ticket.description().needs(Duration.ofMillis(millis), world.now));
    ticket.adopted(entries.stream().map(entry -> hold(ticket, entry)).toList());
    world.tickets.put(ticket.id(), ticket);
    lease.tickets().put(ticket.command().requestId(), ticket);
    long bytes = world.pathSizes.bytesOf(ticket.planned());
    session.addPathBytes(bytes);
    ticket.addPathBytes(bytes);
    return ticket;
  }

  /** What one acquisition created may be shared by several of its owner that outlived it. */
  private UUID unused(UUID wanted) {
    UUID id = wanted;
    while (world.tickets.containsKey(id)) {
      id = new UUID(id.getMostSignificantBits(), id.getLeastSignificantBits() + 1);
    }
    return id;
  }

  private static AcquireCommand command(Lease lease, List<AdoptedEntry> entries) {
    AdoptedEntry first = entries.get(0);
    EntryDetails details = first.read().details();
    EntryTerms terms = details.terms();
    return new AcquireCommand(
        entries.stream()
            .map(entry -> new AcquireCommand.WantedLock(entry.lock(), entry.name().mode()))
            .toList(),
        Optional.of(lease.id()),
        details.owner(),
        // Somebody has written over what the entry said of itself: nobody asks for it by this name.
        details.requestId().isEmpty() ? "?" + uuidOf(first) : details.requestId(),
        terms.waitTimeout(),
        details.holder(),
        details.metadata(),
        Optional.empty(),
        terms.maxHold(),
        terms.lockDelay(),
        details.unsearched());
  }

  private static Part part(AdoptedEntry entry) {
    return new Part.Fresh(
        new PlannedEntry(entry.lock(), entry.name().mode(), Optional.empty()), Optional.empty());
  }

  private static Hold hold(Ticket ticket, AdoptedEntry entry) {
    StoreEvent.ReadEntry read = entry.read();
    return new Hold(
        new StoreEvent.CreatedEntry(entry.lock(), entry.name(), read.czxid(), read.index()),
        read.keptToken(),
        MarkerName.Guard.of(uuidOf(entry), read.details().terms().lockDelay()),
        ticket);
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
  private void endRemains(Lease lease, boolean streamBound, long vouchedUntil) {
    if (streamBound && vouchedUntil - world.now > 0) {
      world.timers.at(vouchedUntil, () -> endings.end(lease, LeaseEnd.EXPIRED));
    } else {
      endings.end(lease, LeaseEnd.EXPIRED);
    }
  }
}
