package io.lockkeeper.server.core.queue;

import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.Mode;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.OptionalLong;

/** One entry of a queue, as the mirror has it. Belongs to its {@link LockQueue}. */
public final class Entry {

  /**
   * By sequence number; where those tie (the counter sticks at 2147483647), by creation; entries
   * that one transaction created, by their index in it where it was read, and in the order in which
   * their events came.
   */
  public static final Comparator<Entry> ORDER =
      Comparator.<Entry>comparingInt(e -> e.name.sequence())
          .thenComparingLong(e -> e.orderingZxid)
          .thenComparingInt(e -> e.orderingIndex)
          .thenComparingLong(e -> e.arrival);

  private static final long NOT_HOLDING = Long.MIN_VALUE;

  private final EntryName name;
  private final long orderingZxid;
  private final int orderingIndex;
  private final long arrival;
  private final long seenAtNanos;
  private boolean found;
  private Optional<EntryOwner> owner = Optional.empty();
  private Optional<EntryDetails> details = Optional.empty();
  private Optional<FencingToken> token = Optional.empty();
  private OptionalLong czxid = OptionalLong.empty();
  private long learnedAtNanos;
  private long heldSinceNanos = NOT_HOLDING;
  private boolean released;
  private boolean leftCleanly;
  private boolean changed;
  private int place = -1;

  /**
   * Makes an entry.
   *
   * @param name the znode name
   * @param orderingZxid the creation zxid, or zero where it is not known and the sequence number
   *     decides alone
   * @param orderingIndex the index in the transaction, or zero where the order of events decides
   * @param arrival rises with every entry that the mirror sees
   * @param seenAtNanos when the mirror saw it first
   * @param found whether it was there before the mirror began to look
   */
  public Entry(
      EntryName name,
      long orderingZxid,
      int orderingIndex,
      long arrival,
      long seenAtNanos,
      boolean found) {
    this.found = found;
    this.name = name;
    this.orderingZxid = orderingZxid;
    this.orderingIndex = orderingIndex;
    this.arrival = arrival;
    this.seenAtNanos = seenAtNanos;
  }

  public EntryName name() {
    return name;
  }

  public Mode mode() {
    return name.mode();
  }

  /** Returns to whom it belongs, if it is an entry of this coordinator. */
  public Optional<EntryOwner> owner() {
    return owner;
  }

  /** Makes it an entry of this coordinator. */
  public void bind(EntryOwner own) {
    owner = Optional.of(own);
  }

  /** Makes it an entry of another coordinator. */
  public void unbind() {
    owner = Optional.empty();
  }

  /** Returns whether it is ours and was created together with a guard. */
  public boolean hasOwnGuard() {
    return owner.isPresent() && owner.get().hasGuard();
  }

  /** Returns what the entry says of itself, if it is ours or was read. */
  public Optional<EntryDetails> details() {
    return owner.isPresent() ? owner.map(EntryOwner::details) : details;
  }

  public Optional<FencingToken> token() {
    return token.isPresent() ? token : owner.flatMap(EntryOwner::knownToken);
  }

  /** Forgets what was read; nobody may have told of a change. */
  public void forget() {
    details = Optional.empty();
    changed = false;
  }

  /** Takes what was read of it. */
  public void learn(StoreEvent.ReadEntry read, long nowNanos) {
    learnedAtNanos = nowNanos;
    details = Optional.of(read.details());
    if (read.czxid() > 0) {
      token = Optional.of(read.token());
      czxid = OptionalLong.of(read.czxid());
    } else if (orderingZxid > 0) {
      // The watch has told when it was created, though its data says nothing.
      token = Optional.of(FencingToken.of(orderingZxid, 0));
    }
  }

  /**
   * Returns for how much longer its holder needs the lock, if it was asked to give way and said so.
   */
  public Optional<Long> needsNanos(long nowNanos) {
    if (owner.isPresent()) {
      return owner.get().needsNanos(nowNanos);
    }
    return details
        .flatMap(EntryDetails::needsMillis)
        .map(millis -> Duration.ofMillis(millis).toNanos())
        .map(nanos -> Math.max(0, nanos - (nowNanos - learnedAtNanos)));
  }

  /** Returns the creation zxid, where it is known. */
  public OptionalLong czxid() {
    if (orderingZxid > 0) {
      return OptionalLong.of(orderingZxid);
    }
    return owner.map(own -> OptionalLong.of(own.czxid())).orElse(czxid);
  }

  /** Returns whether it was read, or is ours. */
  public boolean isDescribed() {
    return owner.isPresent() || details.isPresent();
  }

  /** Remembers that its data has changed; returns whether that was remembered already. */
  public boolean markChanged() {
    boolean already = changed;
    changed = true;
    return already;
  }

  /** Returns whether its data has changed since it was read, and forgets that. */
  public boolean takeChanged() {
    boolean was = changed;
    changed = false;
    return was;
  }

  /** Returns whether it was there, or held already, when the mirror began to look. */
  public boolean wasFound() {
    return found;
  }

  /** The mirror was away, and nobody knows since when it holds. */
  public void markFound() {
    found = true;
  }

  public long seenAtNanos() {
    return seenAtNanos;
  }

  public boolean holds() {
    return heldSinceNanos != NOT_HOLDING;
  }

  public long heldSinceNanos() {
    return heldSinceNanos;
  }

  public void hold(long nowNanos) {
    heldSinceNanos = nowNanos;
  }

  void holdNoMore() {
    heldSinceNanos = NOT_HOLDING;
  }

  boolean hasPlace() {
    return place >= 0;
  }

  /** Returns how many entries were ahead when the queue was last counted. */
  int place() {
    return place;
  }

  void place(int ahead) {
    place = ahead;
  }

  /** Returns whether the holder has released it and only its deletion is outstanding. */
  public boolean isReleased() {
    return released;
  }

  void markReleased() {
    released = true;
  }

  /** Returns whether its guard was taken away before it: so only a holder who releases does. */
  public boolean leftCleanly() {
    return leftCleanly;
  }

  public void markLeftCleanly() {
    leftCleanly = true;
  }
}
