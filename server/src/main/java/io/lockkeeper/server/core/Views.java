package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.ToIntBiFunction;

/** Shows queues and leases to people and clients. */
final class Views {

  private static final int SHOWN_HOLDERS = 16;

  private final World world;
  private final Delays delays;

  Views(World world, Delays delays) {
    this.world = world;
    this.delays = delays;
  }

  Contender contender(Entry entry) {
    Optional<Ticket> ticket = Ticket.of(entry);
    return ticket.isPresent() ? own(entry, ticket.get()) : read(entry);
  }

  private Contender own(Entry entry, Ticket ticket) {
    AcquireCommand command = ticket.command();
    return contender(
        entry,
        tag(entry),
        command.requestId(),
        command.owner(),
        ticket.lease().holderOf(command),
        ticket.description().metadata());
  }

  /** An entry that another coordinator serves, or somebody else: it is known if it was read. */
  private Contender read(Entry entry) {
    if (entry.details().isEmpty()) {
      return contender(entry, "", "", "", "", Map.of());
    }
    EntryDetails details = entry.details().get();
    return contender(
        entry,
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
        world.now - entry.seenAtNanos(),
        entry.holds() ? Optional.of(world.now - entry.heldSinceNanos()) : Optional.empty(),
        entry.holds() ? entry.token() : Optional.empty(),
        entry.holds() ? entry.needsNanos(world.now) : Optional.empty(),
        entry.name().text());
  }

  /** Returns the contenders of at most 16 holders: what a notice carries. */
  List<Contender> fewHolders(LockQueue queue) {
    List<Entry> holders = queue.holders();
    return contenders(holders.subList(0, Math.min(holders.size(), SHOWN_HOLDERS)));
  }

  List<Contender> contenders(Collection<Entry> entries) {
    List<Contender> contenders = new ArrayList<>(entries.size());
    for (Entry entry : entries) {
      contenders.add(contender(entry));
    }
    return List.copyOf(contenders);
  }

  LockView lock(LockName lock, int queueLimit) {
    return world
        .mirror
        .queue(lock)
        .map(queue -> lock(queue, queueLimit))
        .orElseGet(() -> view(lock, List.of(), 0, List.of(), 0));
  }

  LockView lock(LockQueue queue, int queueLimit) {
    return view(
        queue.lock(),
        contenders(queue.holders()),
        queue.waiting(),
        contenders(queue.waiters(queueLimit)),
        queue.revision());
  }

  private LockView view(
      LockName lock, List<Contender> holders, int waiting, List<Contender> queue, long revision) {
    return new LockView(
        lock, holders, waiting, queue, revision, world.mirror.limit(lock), delays.leftNanos(lock));
  }

  /** Returns a change of a lock as its watchers see it; no more than its name if there are none. */
  LockChange change(LockName lock, LockChange.Cause cause, Optional<Entry> entry) {
    long revision = world.mirror.revision();
    if (!world.describesChanges) {
      return LockChange.undescribed(revision, lock);
    }
    Optional<LockQueue> queue = world.mirror.queue(lock);
    return new LockChange(
        revision,
        lock,
        cause,
        entry.map(this::contender),
        queue.map(q -> contenders(q.holders())).orElse(List.of()),
        queue.map(LockQueue::waiting).orElse(0),
        1);
  }

  /** Returns where an acquisition stands in the queues that it waits in. */
  List<Notice.Place> places(Ticket ticket) {
    return places(ticket, LockQueue::ahead);
  }

  /** Returns about where it stands: cheap enough to be asked for often by all who wait. */
  List<Notice.Place> recentPlaces(Ticket ticket, long patienceNanos) {
    return places(ticket, (queue, entry) -> queue.recentlyAhead(entry, world.now, patienceNanos));
  }

  private List<Notice.Place> places(Ticket ticket, ToIntBiFunction<LockQueue, Entry> aheadOf) {
    List<Notice.Place> places = new ArrayList<>(ticket.holds().size());
    for (Hold hold : ticket.holds()) {
      Optional<LockQueue> queue = world.mirror.queue(hold.lock());
      Optional<Entry> entry = hold.entryIn(world.mirror);
      if (entry.isPresent() && !entry.get().holds()) {
        int ahead = aheadOf.applyAsInt(queue.get(), entry.get());
        places.add(new Notice.Place(queue.get().lock(), ahead, fewHolders(queue.get())));
      }
    }
    return List.copyOf(places);
  }

  /**
   * The same without the holders' metadata: thousands of them fit one stream when a lease is told
   * again.
   */
  List<Notice.Place> briefPlaces(Ticket ticket) {
    return places(ticket).stream()
        .map(
            place ->
                new Notice.Place(
                    place.lock(),
                    place.ahead(),
                    place.holders().stream().map(Contender::withoutMetadata).toList()))
        .toList();
  }

  /** Returns who holds the locks that an acquisition asks for. */
  List<Contender> holdersFor(Ticket ticket) {
    return ticket.command().locks().stream()
        .flatMap(wanted -> world.mirror.queue(wanted.name()).stream())
        .flatMap(queue -> fewHolders(queue).stream())
        .filter(contender -> !contender.entry().contains(ticket.id().toString()))
        .limit(SHOWN_HOLDERS)
        .toList();
  }

  LeaseView lease(Lease lease, int limit) {
    return new LeaseView(
        lease.id().tag(),
        lease.holder(),
        lease.isStream() ? Optional.empty() : Optional.of(lease.ttlNanos()),
        lease.isStream()
            ? Optional.empty()
            : Optional.of(Math.max(0, lease.deadlineNanos() - world.now)),
        lease.tickets().size(),
        lease.tickets().values().stream()
            .limit(limit)
            .map(
                ticket ->
                    new LeaseView.Held(
                        ticket.command().requestId(),
                        ticket.command().locks().stream()
                            .map(AcquireCommand.WantedLock::name)
                            .toList(),
                        ticket.acquisition().isHeld()))
            .toList());
  }
}
