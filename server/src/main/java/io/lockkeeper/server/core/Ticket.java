package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** One acquisition that this coordinator serves: its state machine, and who hears of it. */
final class Ticket {

  private final UUID id;
  private final Lease lease;
  private AcquireCommand command;
  private final List<CallId> releaseCalls = new ArrayList<>(0);
  private final Set<LockName> seen = new HashSet<>(2);
  private Acquisition acquisition = Acquisition.enqueuing();
  private Composition composition;
  private final Optional<Revival> revival;
  private List<Hold> holds = List.of();
  private List<EntryRef> leaving = List.of();
  private final Description description;
  private Optional<StreamId> stream = Optional.empty();
  private Optional<Notice> lastNotice = Optional.empty();
  private final TicketTimers timers = new TicketTimers();
  private long pathBytes;
  private int remainingHolds;
  private long sequence;
  private long noticeSequence;
  private int lastAhead = -1;
  private boolean heard = true;
  private boolean granted;
  private boolean ownStream;

  Ticket(UUID id, Lease lease, AcquireCommand command, List<Part> parts) {
    this(id, lease, command, parts, Optional.empty(), false);
  }

  Ticket(
      UUID id,
      Lease lease,
      AcquireCommand command,
      List<Part> parts,
      Optional<Revival> revival,
      boolean ownStream) {
    this.id = id;
    this.lease = lease;
    this.command = command;
    composition = Composition.of(parts);
    this.revival = revival;
    this.ownStream = ownStream;
    description = new Description(command.metadata());
  }

  /** Returns how it came here, if another coordinator served it before. */
  Optional<Revival> revival() {
    return revival;
  }

  /** Returns whether its client has not come here yet, so that nothing may be done with it. */
  boolean isDormant() {
    return revival.isPresent() && revival.get().isDormant();
  }

  /** Returns whether it may be ended because of what is decided here. */
  boolean mayEnd() {
    return revival.isEmpty() || revival.get().mayEnd(acquisition.isWaiting());
  }

  /** Returns whether it holds or held, as far as anybody can know. */
  boolean mayHaveHeld() {
    return granted || (revival.isPresent() && !wasPlaced());
  }

  /** Takes the entries with which it was adopted: where it stands, the mirror tells. */
  void adopted(List<Hold> found) {
    holds = List.copyOf(found);
    acquisition = Acquisition.queued();
  }

  /** Learns all that its client asked for, of which the entries tell a part. */
  void complete(AcquireCommand whole, List<Part> wholeParts, List<Hold> wholeHolds) {
    command = whole;
    composition = Composition.of(wholeParts);
    holds = List.copyOf(wholeHolds);
    holds.forEach(hold -> hold.join(this));
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
    granted |= next.isHeld();
    acquisition = next;
  }

  /** Returns whether it was ever held. */
  boolean wasGranted() {
    return granted;
  }

  /** Returns how each lock is to be had, in the order of the request. */
  List<Part> parts() {
    return composition.parts();
  }

  /** Returns the entries that are to be created. */
  List<PlannedEntry> planned() {
    return composition.planned();
  }

  /** Returns the holds that go on in new entries. */
  List<Hold> goesOn() {
    return composition.goesOn();
  }

  /** Returns the entries that it waits for or holds, in the order of the request. */
  List<Hold> holds() {
    return holds;
  }

  Optional<Hold> hold(LockName lock, String entry) {
    return Hold.find(holds, lock, entry);
  }

  /**
   * Takes its share of what its owner holds: at once, so that the entries outlive the acquisitions
   * that they were created for.
   */
  void join() {
    holds = composition.shared();
    holds.forEach(hold -> hold.join(this));
  }

  /** Takes the entries that were created for it. */
  void created(List<StoreEvent.CreatedEntry> created) {
    Iterator<StoreEvent.CreatedEntry> next = created.iterator();
    List<Hold> all = new ArrayList<>(parts().size());
    for (Part part : parts()) {
      if (part instanceof Part.Shared shared) {
        all.add(shared.hold());
      } else if (part instanceof Part.Fresh fresh) {
        Optional<FencingToken> kept = fresh.entry().beside().map(PlannedEntry.Beside::token);
        all.add(new Hold(next.next(), kept, MarkerName.Guard.of(id, command.lockDelay()), this));
      }
    }
    holds = List.copyOf(all);
  }

  /**
   * Gives up its share of everything.
   *
   * @param clean whether guards go too: not when a holder was lost
   * @return the entries that nobody shares any more
   */
  List<EntryRef> leave(boolean clean) {
    remainingHolds = 0;
    List<EntryRef> last = new ArrayList<>(holds.size());
    for (Hold hold : holds) {
      hold.part(this);
      if (!clean) {
        hold.markLost();
      }
      if (hold.users().isEmpty()) {
        last.add(hold.ref());
      }
      remainingHolds = Math.max(remainingHolds, hold.users().size());
    }
    leaving = List.copyOf(last);
    return leaving;
  }

  /** Returns the entries that are being deleted. */
  List<EntryRef> leaving() {
    return leaving;
  }

  /** Returns how many acquisitions share its holds still; zero if any of its entries has to go. */
  int remainingHolds() {
    return leaving.isEmpty() ? remainingHolds : 0;
  }

  /** Returns the locks whose queues have shown our entry to the mirror. */
  Set<LockName> seen() {
    return seen;
  }

  EntryDetails details() {
    return EntryDetails.of(this, ownStream);
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
