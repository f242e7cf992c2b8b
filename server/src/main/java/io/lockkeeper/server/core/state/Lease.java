package io.lockkeeper.server.core.state;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.SessionKey;
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
public final class Lease {

  /** Where a lease stands. */
  public enum State {
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
  private final long epoch;
  private final String holder;
  private final String secretHash;
  private final long ttlNanos;
  private final boolean isStream;
  private final String identity;
  private String account;
  private final Map<String, Acquisition> acquisitions = new LinkedHashMap<>();
  private final Map<String, Ended> endings = new Remembered<>(REMEMBERED_ENDINGS);
  private final Map<String, Ended> losses = new Remembered<>(REMEMBERED_LOSSES);
  private final Map<String, Boolean> earlyReleases = new Remembered<>(REMEMBERED_ENDINGS);
  private final Map<OwnedLock, List<Hold>> holds = new HashMap<>();
  private final List<CallId> closers = new ArrayList<>(1);
  private State state;
  private Optional<CallId> opener = Optional.empty();
  private Optional<StreamId> stream = Optional.empty();
  private LeaseEnd end = LeaseEnd.CLOSED;
  private Optional<Timers.Timer> expiryTimer = Optional.empty();
  private long deadlineNanos;
  private boolean wasOpen;
  private boolean recordWritten;
  private boolean recorded;
  private boolean adopted;
  private long vouchedUntilNanos;
  private long awakeAtNanos;
  private boolean deadlineKnown;
  private long pathBytes;
  private long entryBytes;

  /**
   * One lock of one owner.
   *
   * @param owner the owner, not empty
   * @param lock the lock
   */
  public record OwnedLock(String owner, LockName lock) {}

  /** A map by request id that drops its eldest entry when it has more than {@code most}. */
  private static final class Remembered<V> extends LinkedHashMap<String, V> {
    private static final long serialVersionUID = 1L;

    private final int most;

    Remembered(int most) {
      this.most = most;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, V> eldest) {
      return size() > most;
    }
  }

  /**
   * How an acquisition ended, kept for a while for those who ask again.
   *
   * @param command what was asked for, as far as that was known
   * @param locks how many locks the request named
   * @param adopted whether only its entries told what was asked for
   * @param notice the final notice
   * @param sequence its number
   * @param heard whether there was a stream to tell it to
   */
  public record Ended(
      AcquireCommand command,
      int locks,
      boolean adopted,
      Notice notice,
      long sequence,
      boolean heard) {

    /**
     * Keeps what a repeated request is compared and answered with, and nothing that is only for
     * people.
     */
    public Ended {
      command = command.withoutDescription();
      if (notice instanceof Notice.NotAcquired ending) {
        notice = ending.withoutHolders();
      }
    }

    /** Makes the ending of an acquisition. */
    public static Ended of(Acquisition acquisition, Notice notice, long sequence) {
      AcquireCommand command = acquisition.command();
      return new Ended(
          command,
          acquisition.adoptedState().map(AdoptedState::locks).orElse(command.locks().size()),
          acquisition.adoptedState().isPresent(),
          notice,
          sequence,
          acquisition.heard());
    }

    /** Makes the ending of a request that was told it at once. */
    public static Ended of(AcquireCommand command, Notice notice) {
      return new Ended(command, command.locks().size(), false, notice, 1, true);
    }

    /**
     * Returns whether a client that comes back must be told: it may believe that it still waits or
     * holds.
     */
    boolean needsTelling() {
      return !heard || isLoss();
    }

    /** Returns whether a hold was lost: its client may still rely on it. */
    public boolean isLoss() {
      return notice instanceof Notice.Lost;
    }

    private Ended asHeard() {
      return new Ended(command, locks, adopted, notice, sequence, true);
    }
  }

  private Lease(
      LeaseId id,
      SessionKey session,
      long epoch,
      String holder,
      String secretHash,
      long ttlNanos,
      boolean isStream,
      String identity,
      String account) {
    this.id = id;
    this.session = session;
    this.epoch = epoch;
    this.holder = holder;
    this.secretHash = secretHash;
    this.ttlNanos = ttlNanos;
    this.isStream = isStream;
    this.identity = identity;
    this.account = account;
    this.state = isStream ? State.OPEN : State.RECORDING;
    this.wasOpen = isStream;
  }

  /** Makes a lease whose record is to be written. */
  public static Lease opening(
      ClientEvent.OpenLease open, Caller by, SessionKey session, long epoch) {
    Lease lease =
        new Lease(
            open.lease(),
            session,
            epoch,
            open.holder(),
            open.secretHash(),
            open.ttl().toNanos(),
            false,
            by.identity(),
            by.account());
    lease.opener = Optional.of(open.call());
    lease.recorded = true;
    return lease;
  }

  public static Lease ofStream(
      LeaseId id, Caller by, SessionKey session, long epoch, String holder) {
    return new Lease(
        id, session, epoch, holder, "", Long.MAX_VALUE, true, by.identity(), by.account());
  }

  /**
   * Makes a lease that another coordinator served before.
   *
   * @param adoption what was adopted with it
   * @param repeatNanos how long a client that comes back may take to repeat its requests
   */
  public static Lease adopted(
      SessionEvent.AdoptedLease record,
      SessionKey session,
      SessionEvent.SessionAdopted adoption,
      long repeatNanos) {
    long ttlNanos = Duration.ofMillis(record.ttlMillis()).toNanos();
    Lease lease =
        new Lease(
            record.lease(),
            session,
            adoption.epoch(),
            record.holder(),
            record.secretHash(),
            ttlNanos,
            false,
            record.identity(),
            record.identity());
    lease.recorded = true;
    lease.recordWritten = true;
    lease.opened();
    lease.vouchedBefore(adoption, repeatNanos);
    return lease;
  }

  /** Makes what is left of a lease that was a stream, or is ending: entries without a record. */
  public static Lease remains(
      LeaseId id,
      SessionKey session,
      String holder,
      SessionEvent.SessionAdopted adoption,
      long repeatNanos) {
    Lease lease = ofStream(id, Caller.ANYBODY, session, adoption.epoch(), holder);
    lease.vouchedBefore(adoption, repeatNanos);
    return lease;
  }

  private void vouchedBefore(SessionEvent.SessionAdopted adoption, long repeatNanos) {
    adopted = true;
    long takenAt = adoption.takenAtNanos();
    Optional<Long> promised = adoption.promisedNanos(id);
    // Whatever was promised, the former bound of the session ends it.
    long grace = adoption.timeoutNanos();
    long vouched = Math.min(grace, promised.orElse(grace));
    // A client that comes in the last moment has some time to repeat its requests.
    awakeAtNanos = takenAt + Math.min(grace, vouched + repeatNanos);
    // A coordinator that is dead for certain vouches for nothing any more.
    vouchedUntilNanos = adoption.certain() ? takenAt : takenAt + vouched;
    deadlineKnown = promised.isPresent();
    deadlineNanos = takenAt + promised.orElse(0L);
  }

  /**
   * Returns for how long its client can rely on it if it is not renewed.
   *
   * @param endingNanos how long a client can be unaware that the lease ended
   */
  public Duration promised(long nowNanos, long endingNanos) {
    long until = isStream ? vouchedUntilNanos : deadlineNanos;
    if (isStream && !adopted && !isEnding()) {
      return Duration.ZERO; // It ends with its stream.
    }
    return Duration.ofNanos(isEnding() ? endingNanos : Math.max(0, until - nowNanos));
  }

  /** Returns whether the coordinator that served it before recorded its deadline. */
  public boolean isDeadlineKnown() {
    return deadlineKnown;
  }

  /** Returns whether another coordinator served it before. */
  public boolean isAdopted() {
    return adopted;
  }

  /** Returns whether the coordinator that served it before may vouch for it still. */
  public boolean mayBeVouchedElsewhere(long nowNanos) {
    return adopted && vouchedUntilNanos - nowNanos > 0;
  }

  /** Returns until when the coordinator that served it before may vouch for it. */
  public long vouchedUntilNanos() {
    return vouchedUntilNanos;
  }

  /**
   * Returns from when on nobody can rely any more on what the coordinator before granted last, dead
   * or not.
   */
  public long awakeAtNanos() {
    return awakeAtNanos;
  }

  /** Returns whose it is; empty: nobody's. */
  public String identity() {
    return identity;
  }

  /** Returns what it is counted under; empty: it is not counted. */
  public String account() {
    return account;
  }

  void account(String value) {
    account = value;
  }

  /**
   * Returns whether somebody may act under it: its owner, and where it has none, whoever knows its
   * id. Whose the remains of a stream were, nobody knows: only somebody who has no identity either.
   */
  public boolean isUsableBy(Caller caller) {
    return caller.operator()
        || identity.equals(caller.identity())
        || (identity.isEmpty() && !(isStream && adopted));
  }

  /** Returns about how many bytes its entries take in ZooKeeper. */
  long entryBytes() {
    return entryBytes;
  }

  void addEntryBytes(long bytes) {
    entryBytes += bytes;
  }

  /** Returns how many bytes of paths its entries take. */
  public long pathBytes() {
    return pathBytes;
  }

  public void addPathBytes(long bytes) {
    pathBytes += bytes;
  }

  public LeaseId id() {
    return id;
  }

  public SessionKey session() {
    return session;
  }

  /** Returns the epoch of this coordinator's service of it. */
  public long epoch() {
    return epoch;
  }

  public String holder() {
    return holder;
  }

  /** Returns who asks, human-readable: as the request says, or else the lease. */
  public String holderOf(AcquireCommand command) {
    return command.holder().isEmpty() ? holder : command.holder();
  }

  public boolean hasSecret(String hash) {
    return !isStream && secretHash.equals(hash);
  }

  public long ttlNanos() {
    return ttlNanos;
  }

  /** Returns whether the lease is one stream, with no time to live of its own. */
  public boolean isStream() {
    return isStream;
  }

  public State state() {
    return state;
  }

  public boolean isEnding() {
    return state == State.ENDING;
  }

  public void opened() {
    state = State.OPEN;
    wasOpen = true;
  }

  /** The store has said that its record is there. */
  public void recordIsWritten() {
    recordWritten = true;
  }

  public boolean isRecordWritten() {
    return recordWritten;
  }

  /** Returns whether it is or has been open: otherwise nobody was ever told of it. */
  public boolean wasOpen() {
    return wasOpen;
  }

  public void ending(LeaseEnd why) {
    state = State.ENDING;
    end = why;
  }

  /** Returns why it has ended; meaningful once it is ending. */
  public LeaseEnd end() {
    return end;
  }

  public Optional<Timers.Timer> expiryTimer() {
    return expiryTimer;
  }

  public void expiryTimer(Optional<Timers.Timer> timer) {
    expiryTimer = timer;
  }

  /** Returns the call that opened it, once. */
  public Optional<CallId> takeOpener() {
    Optional<CallId> taken = opener;
    opener = Optional.empty();
    return taken;
  }

  /** Returns whether ZooKeeper may have a record of it. */
  public boolean isRecorded() {
    return recorded;
  }

  public void erased() {
    recorded = false;
  }

  public long deadlineNanos() {
    return deadlineNanos;
  }

  /**
   * Lets it live for its whole time from now on, and at least for as long as its client may rely on
   * it elsewhere.
   */
  public void renew(long nowNanos) {
    deadlineNanos = nowNanos + ttlNanos;
    if (mayBeVouchedElsewhere(nowNanos) && vouchedUntilNanos - deadlineNanos > 0) {
      deadlineNanos = vouchedUntilNanos;
    }
  }

  public void extend(long nanos) {
    deadlineNanos += nanos;
  }

  public Map<String, Acquisition> acquisitions() {
    return acquisitions;
  }

  /** Returns what its named owners hold. */
  public Map<OwnedLock, List<Hold>> holds() {
    return holds;
  }

  /** Remembers how an acquisition has ended, in place of what was known of it. */
  public void remember(Ended ended) {
    String requestId = ended.command().requestId();
    endings.remove(requestId);
    losses.remove(requestId);
    earlyReleases.remove(requestId);
    (ended.needsTelling() ? losses : endings).put(requestId, ended);
  }

  /** Returns how an acquisition has ended, if that is remembered. */
  public Optional<Ended> ending(String requestId) {
    Ended ended = losses.get(requestId);
    return Optional.ofNullable(ended == null ? endings.get(requestId) : ended);
  }

  /** Remembers a release of a request that has not arrived. */
  public void rememberEarlyRelease(String requestId) {
    earlyReleases.put(requestId, true);
  }

  /** Returns whether a request was released before it arrived, if that is remembered. */
  public boolean wasReleasedEarly(String requestId) {
    return earlyReleases.containsKey(requestId);
  }

  /** Returns the losses, which are sent again on each new stream of the lease. */
  public List<Ended> losses() {
    return losses.values().stream().filter(Ended::isLoss).toList();
  }

  /** Returns whether there are endings, other than losses, that had no stream to be sent on. */
  public boolean hasUnheardEndings() {
    return losses.values().stream().anyMatch(ended -> !ended.isLoss());
  }

  /** Returns the endings, other than losses, that had no stream, and marks them as sent. */
  public List<Ended> takeUnheardEndings() {
    List<Ended> told = losses.values().stream().filter(ended -> !ended.isLoss()).toList();
    told.forEach(ended -> remember(ended.asHeard()));
    return told;
  }

  public List<CallId> closers() {
    return closers;
  }

  public Optional<StreamId> stream() {
    return stream;
  }

  public void attach(Optional<StreamId> subscriber) {
    stream = subscriber;
  }
}
