package io.lockkeeper.server.core.session;

import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * One lock session of the pool: a ZooKeeper session that owns leases and their entries.
 *
 * <pre>
 *   OPENING --Opened, Adopted--> OPEN --no lease left--> CLOSING --Ended--> (forgotten)
 *                                 |                          ^
 *                                 +--bound lost--> GIVEN_UP -+ (emptied)
 * </pre>
 *
 * <p>A session whose bound was lost is emptied, not closed: it may be another coordinator's by now,
 * and closing would free the locks that its holders rely on there. Deletions are fenced, and
 * closing is not.
 */
public final class LockSession {

  /** Where a session stands. */
  enum SessionState {
    /** Never been open. */
    OPENING,
    /** It has its claim record. */
    OPEN,
    /** It could not be proved alive in time: what it owns was told lost and is to be deleted. */
    GIVEN_UP,
    /** It is no longer wanted, and owns nothing. */
    CLOSING
  }

  private static final int MAX_QUESTIONS = 1_000;

  /** What can be answered only if the session is ours still. */
  private record Question(long askedAtNanos, Runnable answered, Runnable ended) {}

  private final SessionKey key;
  private final Optional<String> claim;
  private long epoch = 1;
  private final Set<LeaseId> leases = new HashSet<>();
  private final Map<String, Integer> recordsByAccount = new HashMap<>();
  private final List<Question> questions = new ArrayList<>(0);
  private SessionState state = SessionState.OPENING;
  private boolean suspended;
  private boolean unsure;
  private long unsureSinceNanos;
  private long timeoutNanos;
  private long provenAtNanos;
  private LeaderClock leaderClock = new LeaderClock(Duration.ZERO, 0);
  private long pathBytes;
  private int records;
  private long suspendedSinceNanos;
  private long emptiedFromNanos;

  private LockSession(SessionKey key, Optional<String> claim) {
    this.key = key;
    this.claim = claim;
  }

  /** Makes a session that is to be opened. */
  static LockSession opening(SessionKey key) {
    return new LockSession(key, Optional.empty());
  }

  /** Makes a session that is to be adopted by taking its claim. */
  static LockSession adopting(SessionKey key, String claim) {
    return new LockSession(key, Optional.of(claim));
  }

  /** Returns the claim by which it was adopted; empty for one of our own. */
  Optional<String> claim() {
    return claim;
  }

  /**
   * Returns the epoch of its leases: rises with each adoption, above that of whoever served them
   * before.
   */
  public long epoch() {
    return epoch;
  }

  void epoch(long adopted) {
    epoch = adopted;
  }

  /** Returns whether new leases may go on it: an adopted one only empties. */
  boolean takesLeases() {
    return claim.isEmpty() && (state == SessionState.OPENING || state == SessionState.OPEN);
  }

  public SessionKey key() {
    return key;
  }

  SessionState state() {
    return state;
  }

  void opened(long timeout, long provenAt, LeaderClock clock) {
    state = SessionState.OPEN;
    unsure = false;
    suspended = false;
    timeoutNanos = timeout;
    provenAtNanos = provenAt;
    leaderClock = clock;
  }

  void closing() {
    state = SessionState.CLOSING;
  }

  /** Gives it up; what it owns is deleted from then on, and not before. */
  void givenUp(long emptiedFrom) {
    state = SessionState.GIVEN_UP;
    emptiedFromNanos = emptiedFrom;
  }

  /** Returns from when on what it owns may be deleted: now, unless it was given up. */
  public long emptiedFromNanos(long nowNanos) {
    return state == SessionState.GIVEN_UP ? emptiedFromNanos : nowNanos;
  }

  /**
   * Takes a proof; one that was sent before the doubt arose renews the bound and does not end the
   * doubt.
   */
  void proved(long sentAtNanos) {
    if (sentAtNanos - provenAtNanos > 0) {
      provenAtNanos = sentAtNanos;
    }
    if (unsure && sentAtNanos - unsureSinceNanos >= 0) {
      unsure = false;
    }
  }

  /**
   * Keeps a question until the session is proved ours by what is sent from now on; returns false if
   * there are too many.
   */
  boolean ask(long nowNanos, Runnable answered, Runnable ended) {
    return questions.size() < MAX_QUESTIONS
        && questions.add(new Question(nowNanos, answered, ended));
  }

  /** Returns whether questions are open. */
  boolean isAsked() {
    return !questions.isEmpty();
  }

  /** Answers the questions that a proof answers. */
  void answer(long provenAt) {
    List<Question> answered =
        questions.stream().filter(q -> provenAt - q.askedAtNanos() >= 0).toList();
    questions.removeAll(answered);
    answered.forEach(question -> question.answered().run());
  }

  /** Says that no question will be answered any more. */
  void dropQuestions() {
    List<Question> dropped = List.copyOf(questions);
    questions.clear();
    dropped.forEach(question -> question.ended().run());
  }

  /** Holds grants back until a proof that is sent from now on. */
  void doubt(long nowNanos) {
    unsure = true;
    unsureSinceNanos = nowNanos;
  }

  /**
   * Returns whether requests may be queued on it: after a pause of ours they wait for the proof.
   */
  public boolean isInContact() {
    return state == SessionState.OPEN && !suspended;
  }

  /** Returns whether grants may be made on it. */
  public boolean isSure() {
    return isInContact() && !unsure;
  }

  boolean isUnsure() {
    return unsure;
  }

  /** Returns whether holders have been told that they are in jeopardy. */
  public boolean isSuspended() {
    return suspended;
  }

  void suspend(long nowNanos) {
    suspended = true;
    suspendedSinceNanos = nowNanos;
  }

  void resume() {
    suspended = false;
  }

  /** Returns since when it has been suspended; meaningful while it is. */
  long suspendedSinceNanos() {
    return suspendedSinceNanos;
  }

  long timeoutNanos() {
    return timeoutNanos;
  }

  public long provenAtNanos() {
    return provenAtNanos;
  }

  LeaderClock leaderClock() {
    return leaderClock;
  }

  /** Returns until when the session is known to live. */
  long boundNanos() {
    return leaderClock.boundNanos(timeoutNanos);
  }

  public long pathBytes() {
    return pathBytes;
  }

  /**
   * Returns whether a lease with a record may take so many bytes more. The first half is for
   * whoever comes first; of the second each account with such leases on the session has an equal
   * share that no other can take, and each of these leases an equal part of it: the more of them an
   * account has, the less has each.
   */
  public boolean hasRoomFor(Lease lease, long bytes, long most) {
    long forAccount = most / 2 / Math.max(1, recordsByAccount.size());
    long share = forAccount / recordsByAccount.getOrDefault(lease.account(), 1);
    long keptForOthers = most / 2 - share;
    return pathBytes + bytes <= most - keptForOthers
        || (lease.pathBytes() + bytes <= share && mayOwn(bytes, most));
  }

  /** Returns whether it may own so many bytes more, whoever takes them. */
  public boolean mayOwn(long bytes, long most) {
    return pathBytes + bytes <= most;
  }

  /** Counts a lease, and its record if it has one. */
  public void add(Lease lease, long recordBytes) {
    leases.add(lease.id());
    if (!lease.isStream()) {
      records++;
      recordsByAccount.merge(lease.account(), 1, Integer::sum);
      pathBytes += recordBytes;
    }
  }

  /** Counts a lease no more, nor what its entries take. */
  public void remove(Lease lease, long recordBytes) {
    leases.remove(lease.id());
    pathBytes -= lease.pathBytes();
    if (!lease.isStream()) {
      records--;
      recordsByAccount.computeIfPresent(
          lease.account(), (account, count) -> count == 1 ? null : Integer.valueOf(count - 1));
      pathBytes -= recordBytes;
    }
  }

  /** Returns how many leases have a record on it. */
  int records() {
    return records;
  }

  /** Counts what an acquisition's entries take, or gives it back. */
  public void addPathBytes(Acquisition acquisition, long bytes) {
    pathBytes += bytes;
    acquisition.addPathBytes(bytes);
    acquisition.lease().addPathBytes(bytes);
  }

  public Set<LeaseId> leases() {
    return leases;
  }
}
