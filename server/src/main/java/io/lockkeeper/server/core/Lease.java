package io.lockkeeper.server.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One lease that this coordinator serves.
 *
 * <pre>
 *   RECORDING --Recorded--> OPEN --Ended--> ENDING --nothing left--> (forgotten)
 *       |                                     ^
 *       +---------------- Ended --------------+
 * </pre>
 *
 * <p>A lease that is a stream has no record and begins OPEN, and so does one that was adopted.
 */
final class Lease {

  /** Where a lease stands. */
  enum State {
    /** Its record is being written. */
    RECORDING,
    /** It lives. */
    OPEN,
    /** It has ended; what it held is being deleted. */
    ENDING
  }

  private static final int REMEMBERED_ENDINGS = 256;

  /** More than one session can own: a client that comes back is told of every loss. */
  private static final int REMEMBERED_LOSSES = 16_384;

  private final LeaseId id;
  private final SessionKey session;
  private final String holder;
  private final String secretHash;
  private final long ttlNanos;
  private final boolean isStream;
  private final Map<String, Ticket> tickets = new LinkedHashMap<>();
  private final Map<String, Ended> endings =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Ended> eldest) {
          return size() > REMEMBERED_ENDINGS
              && (!eldest.getValue().needsTelling() || size() > REMEMBERED_LOSSES);
        }
      };
  private final Map<Owned, List<Hold>> holds = new HashMap<>();
  private final List<CallId> closers = new ArrayList<>(1);
  private State state;
  private Optional<CallId> opener = Optional.empty();
  private Optional<StreamId> stream = Optional.empty();
  private LeaseEnd end = LeaseEnd.CLOSED;
  private Optional<Timers.Timer> expiryTimer = Optional.empty();
  private long deadlineNanos;
  private boolean recorded;
  private boolean adopted;
  private long vouchedUntilNanos;

  /**
   * One lock of one owner.
   *
   * @param owner the owner, not empty
   * @param lock the lock
   */
  record Owned(String owner, LockName lock) {}

  /**
   * How an acquisition ended, kept for a while for those who ask again.
   *
   * @param command what was asked for
   * @param notice the final notice
   * @param sequence its number
   * @param heard whether there was a stream to tell it to
   * @param rough whether only its entries told what was asked for
   */
  record Ended(AcquireCommand command, Notice notice, long sequence, boolean heard, boolean rough) {

    /**
     * Keeps what a repeated request is compared and answered with, and nothing that is only for
     * people.
     */
    Ended {
      command = command.withoutDescription();
      if (notice instanceof Notice.NotAcquired ending) {
        notice = new Notice.NotAcquired(ending.reason(), ending.message(), List.of());
      }
    }

    /**
     * Returns whether a client that comes back must be told: it may believe that it still waits or
     * holds.
     */
    boolean needsTelling() {
      return !heard || notice instanceof Notice.Lost;
    }
  }

  private Lease(
      LeaseId id,
      SessionKey session,
      String holder,
      String secretHash,
      long ttlNanos,
      boolean isStream) {
    this.id = id;
    this.session = session;
    this.holder = holder;
    this.secretHash = secretHash;
    this.ttlNanos = ttlNanos;
    this.isStream = isStream;
    this.state = isStream ? State.OPEN : State.RECORDING;
  }

  static Lease opening(ClientEvent.OpenLease open, SessionKey session) {
    Lease lease =
        new Lease(
            open.lease(), session, open.holder(), open.secretHash(), open.ttl().toNanos(), false);
    lease.opener = Optional.of(open.call());
    lease.recorded = true;
    return lease;
  }

  static Lease ofStream(LeaseId id, SessionKey session, String holder) {
    return new Lease(id, session, holder, "", Long.MAX_VALUE, true);
  }

  /**
   * Makes a lease that another coordinator served before.
   *
   * @param vouchedUntilNanos until when that one may vouch for it
   */
  static Lease adopted(
      SessionEvent.AdoptedLease record, SessionKey session, long vouchedUntilNanos) {
    long ttlNanos = Duration.ofMillis(record.ttlMillis()).toNanos();
    Lease lease =
        new Lease(record.lease(), session, record.holder(), record.secretHash(), ttlNanos, false);
    lease.recorded = true;
    lease.state = State.OPEN;
    lease.vouchedBefore(vouchedUntilNanos);
    return lease;
  }

  /** Makes what is left of a lease that was a stream, or is ending: entries without a record. */
  static Lease remains(LeaseId id, SessionKey session, String holder, long vouchedUntilNanos) {
    Lease lease = ofStream(id, session, holder);
    lease.vouchedBefore(vouchedUntilNanos);
    return lease;
  }

  private void vouchedBefore(long untilNanos) {
    adopted = true;
    vouchedUntilNanos = untilNanos;
  }

  /** Returns whether another coordinator served it before. */
  boolean isAdopted() {
    return adopted;
  }

  /** Returns whether the coordinator that served it before may vouch for it still. */
  boolean mayBeVouchedElsewhere(long nowNanos) {
    return adopted && vouchedUntilNanos - nowNanos > 0;
  }

  /** Returns until when the coordinator that served it before may vouch for it. */
  long vouchedUntilNanos() {
    return vouchedUntilNanos;
  }

  LeaseId id() {
    return id;
  }

  SessionKey session() {
    return session;
  }

  String holder() {
    return holder;
  }

  /** Returns who asks, for people: as the request says, or else the lease. */
  String holderOf(AcquireCommand command) {
    return command.holder().isEmpty() ? holder : command.holder();
  }

  boolean hasSecret(String hash) {
    return !isStream && secretHash.equals(hash);
  }

  long ttlNanos() {
    return ttlNanos;
  }

  /** Returns whether the lease is one stream, with no time to live of its own. */
  boolean isStream() {
    return isStream;
  }

  State state() {
    return state;
  }

  boolean isEnding() {
    return state == State.ENDING;
  }

  void opened() {
    state = State.OPEN;
  }

  void ending(LeaseEnd why) {
    state = State.ENDING;
    end = why;
  }

  /** Returns why it has ended; meaningful once it is ending. */
  LeaseEnd end() {
    return end;
  }

  Optional<Timers.Timer> expiryTimer() {
    return expiryTimer;
  }

  void expiryTimer(Optional<Timers.Timer> timer) {
    expiryTimer = timer;
  }

  Optional<CallId> takeOpener() {
    Optional<CallId> taken = opener;
    opener = Optional.empty();
    return taken;
  }

  /** Returns whether ZooKeeper may have a record of it. */
  boolean isRecorded() {
    return recorded;
  }

  void erased() {
    recorded = false;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  /**
   * Lets it live for its whole time from now on, and at least for as long as its client may rely on
   * it elsewhere.
   */
  void renew(long nowNanos) {
    deadlineNanos = nowNanos + ttlNanos;
    if (mayBeVouchedElsewhere(nowNanos) && vouchedUntilNanos - deadlineNanos > 0) {
      deadlineNanos = vouchedUntilNanos;
    }
  }

  void extend(long nanos) {
    deadlineNanos += nanos;
  }

  Map<String, Ticket> tickets() {
    return tickets;
  }

  /** Returns what its named owners hold. */
  Map<Owned, List<Hold>> holds() {
    return holds;
  }

  Map<String, Ended> endings() {
    return endings;
  }

  List<CallId> closers() {
    return closers;
  }

  Optional<StreamId> stream() {
    return stream;
  }

  void attach(Optional<StreamId> subscriber) {
    stream = subscriber;
  }
}
