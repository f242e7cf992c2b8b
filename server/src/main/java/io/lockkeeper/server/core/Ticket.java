package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** One acquisition that this coordinator serves: its state machine, and who hears of it. */
final class Ticket {

  private final UUID id;
  private final Lease lease;
  private final AcquireCommand command;
  private final Optional<Revival> revival;
  private final List<CallId> releaseCalls = new ArrayList<>(0);
  private final TicketTimers timers = new TicketTimers();
  private final Description description;
  private final List<PlannedEntry> planned;
  private final List<Hold> holds;
  private Acquisition acquisition = Acquisition.enqueuing();
  private Optional<StreamId> stream = Optional.empty();
  private Optional<Notice> lastNotice = Optional.empty();
  private long pathBytes;
  private int remainingHolds;
  private long sequence;
  private long noticeSequence;
  private int lastAhead = -1;
  private boolean heard = true;
  private boolean answered;
  private boolean refused;
  private boolean givenBack;
  private boolean toTryAgain;
  private int tries;
  private boolean toBeDeleted;
  private long deletableFromNanos;
  private List<EntryRef> leaving = List.of();
  private boolean ownStream;
  private boolean cameBack;
  private boolean asksToEnd;
  private long cameBackAtNanos;

  private Ticket(
      UUID id,
      Lease lease,
      AcquireCommand command,
      List<PlannedEntry> planned,
      Optional<Revival> revival) {
    this.id = id;
    this.lease = lease;
    this.command = command;
    this.planned = List.copyOf(planned);
    this.revival = revival;
    holds = new ArrayList<>(planned.size());
    description = new Description(command.metadata());
  }

  /**
   * Makes the acquisition of a request that has come here.
   *
   * @param revival how far it may be ended here, if another coordinator granted it before
   */
  static Ticket of(
      UUID id, Lease lease, AcquireCommand command, List<Part> parts, Optional<Revival> revival) {
    List<PlannedEntry> planned = new ArrayList<>(parts.size());
    for (Part part : parts) {
      planned.add(part.entry());
    }
    Ticket ticket = new Ticket(id, lease, command, planned, revival);
    for (Part part : parts) {
      ticket.holds.add(new Hold(ticket, part));
    }
    return ticket;
  }

  /** Makes an acquisition of which another coordinator left the entries; the mirror tells more. */
  static Ticket adopted(
      UUID id,
      Lease lease,
      AcquireCommand command,
      List<SessionEvent.AdoptedEntry> entries,
      boolean ownStream,
      Revival revival) {
    List<PlannedEntry> planned = new ArrayList<>(entries.size());
    for (SessionEvent.AdoptedEntry entry : entries) {
      planned.add(new PlannedEntry(entry.lock(), entry.name().mode(), Optional.empty()));
    }
    Ticket ticket = new Ticket(id, lease, command, planned, Optional.of(revival));
    for (SessionEvent.AdoptedEntry entry : entries) {
      ticket.holds.add(new Hold(ticket, entry));
    }
    ticket.ownStream = ownStream;
    ticket.acquisition = Acquisition.queued();
    ticket.answered = true;
    return ticket;
  }

  /** Returns the acquisition of this coordinator that an entry belongs to, if it does. */
  static Optional<Ticket> of(Entry entry) {
    return Hold.of(entry).map(Hold::ticket);
  }

  /** Returns how it came here, if another coordinator served it before. */
  Optional<Revival> revival() {
    return revival;
  }

  /** Returns whether its client has not come here yet, so that nothing may be done with it. */
  boolean isDormant() {
    return revival.isPresent() && revival.get().isDormant();
  }

  /**
   * Returns whether something that is decided here may end it: not while its client may rely on
   * another coordinator, and not the wait for what its client was granted there.
   */
  boolean mayEnd() {
    return (revival.isEmpty() || revival.get().isAwake())
        && !(acquisition.isWaiting() && wasGranted());
  }

  /** Returns from when on it may be ended here, which may be now. */
  long awakeAtNanos(long nowNanos) {
    return revival.isPresent() && !revival.get().isAwake()
        ? revival.get().awakeAtNanos()
        : nowNanos;
  }

  /** Returns whether its entries say nothing of whose they are: somebody has overwritten that. */
  boolean isNameless() {
    return revival.isPresent() && revival.get().isNameless();
  }

  /** Returns whether it holds or held, as far as anybody can know. */
  boolean mayHaveHeld() {
    return wasGranted() || (revival.isPresent() && !wasPlaced());
  }

  UUID id() {
    return id;
  }

  Lease lease() {
    return lease;
  }

  AcquireCommand command() {
    return command;
  }

  Acquisition acquisition() {
    return acquisition;
  }

  void become(Acquisition next) {
    acquisition = next;
  }

  /** Returns whether its client may use its locks, as far as is known, though it may wait here. */
  boolean isReliedOn() {
    return acquisition.isLive() && wasGranted();
  }

  /** Returns whether it was ever held, here or elsewhere. */
  boolean wasGranted() {
    for (Hold hold : holds) {
      if (hold.wasGranted()) {
        return true;
      }
    }
    return false;
  }

  /** Returns the entries that are to be created, or were, in the order of the request. */
  List<PlannedEntry> planned() {
    return planned;
  }

  /** Returns what it waits for or holds, in the order of the request. */
  List<Hold> holds() {
    return holds;
  }

  Optional<Hold> hold(LockName lock) {
    for (Hold hold : holds) {
      if (hold.lock().equals(lock)) {
        return Optional.of(hold);
      }
    }
    return Optional.empty();
  }

  /** ZooKeeper has created its entries, all of them. */
  void created(List<StoreEvent.CreatedEntry> created) {
    answered = true;
    for (int i = 0; i < created.size(); i++) {
      holds.get(i).created(created.get(i));
    }
  }

  /** ZooKeeper has refused to create its entries. */
  void refused() {
    answered = true;
    refused = true;
  }

  /** Its entries were refused and are to be asked for again; returns how often they were before. */
  int triesAgain() {
    toTryAgain = true;
    return tries++;
  }

  /** Its entries have been asked for again. */
  void triedAgain() {
    toTryAgain = false;
  }

  /** Returns whether its entries were refused and are to be asked for again. */
  boolean isToTryAgain() {
    return toTryAgain && !answered;
  }

  /** Returns whether ZooKeeper has refused to create its entries. */
  boolean isRefused() {
    return refused;
  }

  /** Returns whether ZooKeeper has created its entries, or has refused to. */
  boolean isAnswered() {
    return answered;
  }

  /** Its entries are to be deleted, from a time on. */
  void deleteFrom(long fromNanos) {
    toBeDeleted = true;
    deletableFromNanos = fromNanos;
  }

  /** Returns whether its entries are to be deleted, and that has not been asked for. */
  boolean isToBeDeleted() {
    return toBeDeleted;
  }

  /** Returns from when on its entries may be deleted; meaningful once they are to be. */
  long deletableFromNanos() {
    return deletableFromNanos;
  }

  /** The deletion of its entries has been asked for. */
  void deleting(List<EntryRef> entries) {
    toBeDeleted = false;
    leaving = List.copyOf(entries);
  }

  /** Returns the entries that are being deleted. */
  List<EntryRef> leaving() {
    return leaving;
  }

  /** Remembers how many others of its owner go on holding what it gives back, for the answer. */
  void leavesBehind(int holds) {
    remainingHolds = holds;
  }

  /** Returns how many others of its owner hold what it gave back. */
  int remainingHolds() {
    return remainingHolds;
  }

  /** Returns what its entries say of it. */
  EntryDetails details() {
    return new EntryDetails(
        lease.id().toString(),
        command.requestId(),
        command.owner(),
        lease.holderOf(command),
        description.metadata(),
        lease.isStream(),
        command.unsearched(),
        description.needsMillis(),
        Optional.empty(),
        new EntryTerms(
            revival.map(Revival::locks).orElse(command.locks().size()),
            command.waitTimeout(),
            command.maxHold(),
            command.lockDelay(),
            ownStream));
  }

  /** Returns how many bytes of paths are counted for it. */
  long pathBytes() {
    return pathBytes;
  }

  void addPathBytes(long bytes) {
    pathBytes += bytes;
  }

  /** Returns what it says of itself beside what it asked for. */
  Description description() {
    return description;
  }

  TicketTimers timers() {
    return timers;
  }

  /** Returns the acquisition's own stream; without one, notices go to the lease's. */
  Optional<StreamId> stream() {
    return stream;
  }

  void subscribe(Optional<StreamId> subscriber) {
    stream = subscriber;
    ownStream |= subscriber.isPresent();
  }

  /** Remembers whether it is being asked if its wait may be ended; returns what was remembered. */
  boolean asksToEnd(boolean asks) {
    boolean before = asksToEnd;
    asksToEnd = asks;
    return before;
  }

  /** Its client, who had asked for it before, is here again. */
  void cameBack(long nowNanos) {
    cameBack = true;
    cameBackAtNanos = nowNanos;
  }

  /** Returns whether its client came back after a time. */
  boolean cameBackSince(long nanos) {
    return cameBack && cameBackAtNanos - nanos > 0;
  }

  /** Returns whether it was asked for on a stream of its own. */
  boolean hasOwnStream() {
    return ownStream;
  }

  /** Returns where notices go now. */
  Optional<StreamId> target() {
    return stream.isPresent() ? stream : lease.stream();
  }

  /** Remembers a notice, if it says where the acquisition stands, and numbers it. */
  long tell(Notice notice) {
    sequence++;
    if (!(notice instanceof Notice.Position
        || notice instanceof Notice.ReleaseRequested
        || notice instanceof Notice.Jeopardy
        || notice instanceof Notice.Safe)) {
      lastNotice = Optional.of(notice);
      noticeSequence = sequence;
      heard = target().isPresent();
    }
    return sequence;
  }

  /** Returns the number of {@link #lastNotice}. */
  long noticeSequence() {
    return noticeSequence;
  }

  /** Returns whether the client was told that it waits. */
  boolean wasPlaced() {
    return lastNotice.isPresent() && lastNotice.get() instanceof Notice.Queued;
  }

  /** Returns how the entries leave the queue, as far as the ending told says. */
  Departure departure() {
    return lastNotice.isPresent() ? Departure.by(lastNotice.get()) : Departure.UNKNOWN;
  }

  /** Returns whether the newest notice of state was sent to somebody. */
  boolean heard() {
    return heard;
  }

  void markHeard() {
    heard = true;
  }

  /** Returns the newest notice that says where the acquisition stands. */
  Optional<Notice> lastNotice() {
    return lastNotice;
  }

  /** Its client gives it back. */
  void giveBack() {
    givenBack = true;
  }

  /** Returns whether its client has given it back, rather than a clock or somebody else. */
  boolean isGivenBack() {
    return givenBack;
  }

  List<CallId> releaseCalls() {
    return releaseCalls;
  }

  /** Returns whether the place differs from the one told last, and remembers it. */
  boolean moved(int ahead) {
    boolean moved = ahead != lastAhead;
    lastAhead = ahead;
    return moved;
  }
}
