package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** One acquisition that this coordinator serves: its state machine, and who hears of it. */
final class Ticket {

  private final UUID id;
  private final Lease lease;
  private final AcquireCommand command;
  private final List<CallId> releaseCalls = new ArrayList<>(1);
  private final Set<LockName> seen = new HashSet<>(2);
  private Acquisition acquisition = Acquisition.enqueuing();
  private List<StoreEvent.CreatedEntry> entries = List.of();
  private Optional<StreamId> stream = Optional.empty();
  private Optional<Notice> lastNotice = Optional.empty();
  private Optional<Timers.Timer> waitTimer = Optional.empty();
  private Optional<Timers.Timer> positionTimer = Optional.empty();
  private Optional<Timers.Timer> lingerTimer = Optional.empty();
  private long sequence;
  private long noticeSequence;
  private int lastAhead = -1;
  private boolean heard = true;
  private boolean granted;

  Ticket(UUID id, Lease lease, AcquireCommand command) {
    this.id = id;
    this.lease = lease;
    this.command = command;
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

  List<StoreEvent.CreatedEntry> entries() {
    return entries;
  }

  void created(List<StoreEvent.CreatedEntry> created) {
    entries = List.copyOf(created);
  }

  Optional<FencingToken> tokenOf(String entry) {
    return entries.stream()
        .filter(e -> e.name().text().equals(entry))
        .findFirst()
        .map(e -> FencingToken.of(e.czxid(), e.index()));
  }

  boolean hasToken(long token) {
    return entries.stream().anyMatch(e -> FencingToken.of(e.czxid(), e.index()).value() == token);
  }

  /** Returns the locks whose queues have shown our entry to the mirror. */
  Set<LockName> seen() {
    return seen;
  }

  EntryDetails details() {
    return new EntryDetails(
        lease.id().toString(),
        command.requestId(),
        command.owner(),
        command.holder().isEmpty() ? lease.holder() : command.holder(),
        command.metadata(),
        lease.isStream());
  }

  /** Returns the acquisition's own stream; without one, notices go to the lease's. */
  Optional<StreamId> stream() {
    return stream;
  }

  void subscribe(Optional<StreamId> subscriber) {
    stream = subscriber;
  }

  /** Returns where notices go now. */
  Optional<StreamId> target() {
    return stream.or(lease::stream);
  }

  /** Remembers a notice, if it says where the acquisition stands, and numbers it. */
  long tell(Notice notice) {
    sequence++;
    if (!(notice instanceof Notice.Position
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
    return lastNotice.filter(Notice.Queued.class::isInstance).isPresent();
  }

  /** Returns how the entries leave the queue, as far as the ending told says. */
  Departure departure() {
    return lastNotice.map(Ticket::departureBy).orElse(Departure.UNKNOWN);
  }

  private static Departure departureBy(Notice notice) {
    if (notice instanceof Notice.Released) {
      return Departure.RELEASED;
    }
    if (notice instanceof Notice.Lost lost) {
      return switch (lost.reason()) {
        case LEASE_EXPIRED, LEASE_CLOSED -> Departure.LEASE_ENDED;
        case SESSION_LOST -> Departure.SESSION_LOST;
        case REMOVED -> Departure.UNKNOWN;
      };
    }
    if (notice instanceof Notice.NotAcquired ending) {
      return switch (ending.reason()) {
        case TIMED_OUT, QUEUE_FULL, WITHDRAWN -> Departure.WITHDRAWN;
        case LEASE_ENDED -> Departure.LEASE_ENDED;
        case SESSION_LOST -> Departure.SESSION_LOST;
        case REMOVED -> Departure.UNKNOWN;
      };
    }
    return Departure.UNKNOWN;
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

  void waitTimer(Optional<Timers.Timer> timer) {
    waitTimer = timer;
  }

  void positionTimer(Optional<Timers.Timer> timer) {
    positionTimer = timer;
  }

  /** Remembers until when it lingers without a stream, instead of an earlier time. */
  void linger(Timers timers, Timers.Timer timer) {
    lingerTimer.ifPresent(timers::cancel);
    lingerTimer = Optional.of(timer);
  }

  /** Takes back the deadlines that only a waiter has. */
  void stopWaiting(Timers timers) {
    waitTimer.ifPresent(timers::cancel);
    positionTimer.ifPresent(timers::cancel);
    waitTimer = Optional.empty();
    positionTimer = Optional.empty();
  }

  /** Returns whether the place differs from the one told last, and remembers it. */
  boolean moved(int ahead) {
    boolean moved = ahead != lastAhead;
    lastAhead = ahead;
    return moved;
  }
}
