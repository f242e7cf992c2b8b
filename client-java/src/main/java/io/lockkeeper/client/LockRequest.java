package io.lockkeeper.client;

import io.lockkeeper.client.internal.protocol.Limits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * What to ask for: one lock or several, and how. Immutable; every method returns a changed copy.
 *
 * <pre>{@code
 * LockRequest.of("orders/42").waitAtMost(Duration.ofSeconds(5)).listener(listener)
 * LockRequest.of(LockSpec.write("accounts/1"), LockSpec.write("accounts/2"))
 * LockRequest.of(LockSpec.permits("printers", 2, 5)).maxHold(Duration.ofMinutes(1))
 * }</pre>
 *
 * <p>Several locks are granted together or not at all, within one wait limit. The order in which
 * they are named makes no difference: no two requests can deadlock.
 *
 * <p>What is out of range throws {@link IllegalArgumentException} here, before anything is sent.
 */
public final class LockRequest {

  private static final int MAX_LOCKS = 64;

  private final Content content;

  private LockRequest(Content content) {
    this.content = content;
  }

  /** What a request says; changed only before the request is made that has it. */
  private static final class Content {
    private final List<LockSpec> locks;
    private String owner = "";
    private Optional<Duration> waitLimit = Optional.empty();
    private Optional<String> holder = Optional.empty();
    private Map<String, String> metadata = Map.of();
    private Optional<Duration> maxHold = Optional.empty();
    private Duration lockDelay = Duration.ZERO;
    private Optional<Duration> positionInterval = Optional.empty();
    private Optional<Boolean> deadlockCheck = Optional.empty();
    private boolean notifyContention;
    private Optional<Duration> keepUnused = Optional.empty();
    private LockListener listener = LockListener.NONE;

    Content(List<LockSpec> locks) {
      this.locks = locks;
    }

    Content copy() {
      Content copy = new Content(locks);
      copy.owner = owner;
      copy.waitLimit = waitLimit;
      copy.holder = holder;
      copy.metadata = metadata;
      copy.maxHold = maxHold;
      copy.lockDelay = lockDelay;
      copy.positionInterval = positionInterval;
      copy.deadlockCheck = deadlockCheck;
      copy.notifyContention = notifyContention;
      copy.keepUnused = keepUnused;
      copy.listener = listener;
      return copy;
    }
  }

  private LockRequest with(Consumer<Content> change) {
    Content changed = content.copy();
    change.accept(changed);
    return new LockRequest(changed);
  }

  /**
   * Returns a request for an exclusive lock that waits as long as it takes.
   *
   * @param name 1 to 512 bytes of UTF-8, no control characters, at most 16 segments separated by
   *     {@code /}, none empty, {@code .} or {@code ..}
   * @throws IllegalArgumentException if the name breaks these rules
   */
  public static LockRequest of(String name) {
    return of(LockSpec.exclusive(name));
  }

  /**
   * Returns a request for locks that waits as long as it takes.
   *
   * @param more 1 to 64 locks in all
   * @throws IllegalArgumentException if there are too many, or one is named twice
   */
  public static LockRequest of(LockSpec first, LockSpec... more) {
    List<LockSpec> all = new ArrayList<>(List.of(more));
    all.add(0, first);
    return of(all);
  }

  /**
   * Returns a request for locks that waits as long as it takes.
   *
   * @param locks 1 to 64, each name once
   * @throws IllegalArgumentException if there are none or too many, or one is named twice
   */
  public static LockRequest of(List<LockSpec> locks) {
    int count = locks.size();
    Limits.require(count >= 1 && count <= MAX_LOCKS, "locks", "1 to 64", count);
    Set<String> names = new HashSet<>();
    for (LockSpec lock : locks) {
      Limits.require(names.add(lock.name()), "locks", "named once each", "twice " + lock.name());
    }
    return new LockRequest(new Content(List.copyOf(locks)));
  }

  /**
   * Says who asks inside this client: a task, a thread. What the owner already holds in the same
   * mode is granted again at once and counted, and a holder of the write lock is granted the read
   * lock; permits are never shared. The owner's waits are searched for cycles: see {@link
   * #checkForDeadlock}. Default: empty, no owner: every acquisition excludes every other. {@link
   * LockkeeperClient#withLock} makes a request without one for the calling thread.
   *
   * @param name up to 256 bytes of UTF-8
   * @throws IllegalArgumentException if it is longer
   */
  public LockRequest owner(String name) {
    String checked = Limits.label("owner", name);
    return with(changed -> changed.owner = checked);
  }

  /** Waits for at most {@code limit}, zero (take the locks only if they are free) to 7 days. */
  public LockRequest waitAtMost(Duration limit) {
    Optional<Duration> checked = Optional.of(Limits.waitLimit(limit));
    return with(changed -> changed.waitLimit = checked);
  }

  /** Says who asks, human-readable: up to 256 bytes of UTF-8. Default: the client's holder. */
  public LockRequest holder(String who) {
    Optional<String> checked = Optional.of(Limits.label("holder", who));
    return with(changed -> changed.holder = checked);
  }

  /**
   * Adds an entry that others can see while this request waits and while it holds. Up to 32
   * entries, 4 KiB in all, keys not empty. {@link LockHandle#updateMetadata} replaces them.
   */
  public LockRequest metadata(String key, String value) {
    Map<String, String> more = new HashMap<>(content.metadata);
    more.put(key, value);
    Map<String, String> checked = Limits.metadata(more);
    return with(changed -> changed.metadata = checked);
  }

  /**
   * Limits how long the locks may be held, 100 ms to 7 days. The handle is valid that long after
   * the grant at the most, and then lost with {@link LossReason#MAX_HOLD}, and so are the levels
   * that the owner has added to it; the server takes the locks away a tenth of the limit later (100
   * ms to 2 s). Default: no limit.
   */
  public LockRequest maxHold(Duration limit) {
    Optional<Duration> checked = Optional.of(Limits.maxHold(limit));
    Limits.require(content.keepUnused.isEmpty(), "maxHold", "without keepUnused", "with it");
    return with(changed -> changed.maxHold = checked);
  }

  /**
   * Says how long the next grant waits if this holder is lost rather than releases: time for what
   * it has begun to finish. Zero to 1 hour, in whole milliseconds. Default: zero.
   */
  public LockRequest lockDelay(Duration delay) {
    Duration checked = Limits.lockDelay(delay);
    return with(changed -> changed.lockDelay = checked);
  }

  /**
   * Calls {@link LockListener#onQueued} when the place changes, this often at most: 100 ms to 1 h.
   * Default: once, and when a holder has changed what it says about itself.
   */
  public LockRequest reportPositionEvery(Duration interval) {
    Optional<Duration> checked = Optional.of(Limits.positionInterval(interval));
    return with(changed -> changed.positionInterval = checked);
  }

  /**
   * Never refuses this request because of a cycle of waits, and leaves it out of the search: the
   * default without an {@link #owner}.
   */
  public LockRequest skipDeadlockCheck() {
    return with(changed -> changed.deadlockCheck = Optional.of(false));
  }

  /**
   * Refuses this request if it is the youngest of a cycle of waits, and finds cycles that others
   * close with it: the default with an {@link #owner}. All requests of a client without an owner
   * count as one who waits, so without one this is for clients that do one thing at a time: several
   * tasks may look like a cycle where there is none.
   */
  public LockRequest checkForDeadlock() {
    Limits.require(
        content.keepUnused.isEmpty(), "checkForDeadlock", "without keepUnused", "with it");
    return with(changed -> changed.deadlockCheck = Optional.of(true));
  }

  /** Calls {@link LockListener#onContended} when somebody waits for what is held. Default: not. */
  public LockRequest notifyContention() {
    return with(changed -> changed.notifyContention = true);
  }

  /**
   * Keeps the locks in this client when they are released, for as long as nobody else wants them
   * and at most {@code time} without use. The next request of this client for the same locks, in
   * the same modes and with the same {@link #lockDelay}, is granted them at once, without a server;
   * one that finds them in use waits in the client, first come, first served. When somebody else
   * waits, or a server asks for it, they are released: at once, or when their user releases them;
   * those who waited in the client before that was known go first, for a second at most.
   *
   * <p>For locks that mostly one client uses, over and over. Others pay for it by some milliseconds
   * when they want the lock; and one that does not wait finds it taken, and makes it free for the
   * next attempt.
   *
   * <ul>
   *   <li><b>All who use what one grant gave have one fencing token.</b> A resource cannot tell
   *       them apart: one that has released in this client, and still writes, is not refused.
   *   <li>An {@link #owner} counts in this client only: with it, the locks are granted again by the
   *       same kind of request, and by no other (a writer may not read); such a request is refused
   *       ({@link NotAcquiredReason#WOULD_DEADLOCK}), since it would wait for itself. Other cycles
   *       of waits are not found.
   *   <li>Others see the holder and the metadata of the request that was sent to a server, or what
   *       {@link LockHandle#updateMetadata} has said last.
   *   <li>For other requests of this client the lock is taken, too, while it is kept.
   *   <li>A client keeps 1,000 locks unused; beyond that, they are released as ever.
   *   <li>What is lost while it is unused, nobody is told of.
   * </ul>
   *
   * @param time 100 ms to 1 hour
   * @throws IllegalArgumentException if it is out of range, with {@link #maxHold} (whose time would
   *     it be?) or with {@link #checkForDeadlock}
   */
  public LockRequest keepUnused(Duration time) {
    Optional<Duration> checked = Optional.of(Limits.keepUnused(time));
    Limits.require(content.maxHold.isEmpty(), "keepUnused", "without maxHold", "with it");
    boolean searched = content.deadlockCheck.orElse(false);
    Limits.require(!searched, "keepUnused", "without checkForDeadlock", "with it");
    return with(changed -> changed.keepUnused = checked);
  }

  /** Tells {@code newListener} what happens. Default: no listener. */
  public LockRequest listener(LockListener newListener) {
    return with(changed -> changed.listener = newListener);
  }

  /** Returns the locks, in their order. */
  public List<LockSpec> locks() {
    return content.locks;
  }

  /** Returns the name of the first lock. */
  public String name() {
    return content.locks.get(0).name();
  }

  /** Returns the owner; empty: none. */
  public String owner() {
    return content.owner;
  }

  /** Returns how long to wait at most; empty: as long as it takes. */
  public Optional<Duration> waitLimit() {
    return content.waitLimit;
  }

  /** Returns who asks; empty: the client's holder. */
  public Optional<String> holder() {
    return content.holder;
  }

  /** Returns what others can see. */
  public Map<String, String> metadata() {
    return content.metadata;
  }

  /** Returns how long the locks may be held; empty: no limit. */
  public Optional<Duration> maxHold() {
    return content.maxHold;
  }

  /** Returns how long the next grant waits after this holder was lost. */
  public Duration lockDelay() {
    return content.lockDelay;
  }

  /** Returns how often the place is told at most; empty: once. */
  public Optional<Duration> positionInterval() {
    return content.positionInterval;
  }

  /**
   * Returns whether the request takes part in the search for cycles of waits; empty: if it has an
   * owner.
   */
  public Optional<Boolean> deadlockCheck() {
    return content.deadlockCheck;
  }

  /** Returns whether the server is to tell when somebody waits for what is held. */
  public boolean isNotifiedOfContention() {
    return content.notifyContention || content.keepUnused.isPresent();
  }

  /** Returns how long the locks are kept without use when they are released; empty: not. */
  public Optional<Duration> keepUnused() {
    return content.keepUnused;
  }

  /** Returns who is told what happens. */
  public LockListener listener() {
    return content.listener;
  }

  @Override
  public String toString() {
    return "LockRequest" + content.locks;
  }
}
