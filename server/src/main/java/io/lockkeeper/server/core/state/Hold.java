package io.lockkeeper.server.core.state;

import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.EntryTerms;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.queue.EntryOwner;
import io.lockkeeper.server.core.queue.Mirror;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What one acquisition has of one lock: one entry of ours, from the request for it on. All that is
 * known about whether it is held is here.
 *
 * <pre>
 *   Waiting --granted, or its client knows the token--> Granted --given back--> Released
 *    |   |                                                 |
 *    |   +----------- left the queue --> Left              +--------- taken --> Lost
 *    +--- taken, and nobody knows whether it was held ------------------------>  ^
 * </pre>
 */
public final class Hold implements EntryOwner {

  /** Where a hold stands. */
  public sealed interface Standing {

    /** It waits, as far as anybody here knows. */
    record Waiting() implements Standing {}

    /**
     * Its client may use the lock.
     *
     * @param proof how that is known
     */
    record Granted(Proof proof) implements Standing {}

    /** Its client gave it back; what is left is its deletion. */
    record Released() implements Standing {}

    /**
     * Its client has lost it.
     *
     * @param held whether it was held for certain: where only entries tell of it, nobody knows
     */
    record Lost(boolean held) implements Standing {}

    /** It left the queue before it was granted. */
    record Left() implements Standing {}
  }

  /** How it is known that a lock is held. */
  public enum Proof {
    /** The queue says so: everything ahead goes with it. */
    QUEUE,
    /** It is placed beside what its owner holds. */
    OWNER,
    /**
     * This coordinator granted it ahead of its creation, before it lost the session for a while.
     */
    AHEAD,
    /**
     * Its client names the token, so another coordinator granted it: ahead of deletions that the
     * queue may still miss.
     */
    CLIENT
  }

  private static final Standing WAITING = new Standing.Waiting();

  private final Acquisition acquisition;
  private final LockName lock;
  private final Mode mode;
  private final Optional<Hold> beside;
  private final Optional<FencingToken> keptToken;
  private final Optional<MarkerName.Guard> guard;
  private List<Hold> here;
  private boolean seen;
  private Optional<EntryName> name;
  private long czxid;
  private int index;
  private Standing standing = WAITING;

  /**
   * Makes a hold whose entry is to be created.
   *
   * @param acquisition whose it is
   * @param placement what is to be created, and beside what
   */
  Hold(Acquisition acquisition, Placement placement) {
    this.acquisition = acquisition;
    lock = placement.entry().lock();
    mode = placement.entry().mode();
    beside = placement.beside();
    here = beside.map(base -> base.here).orElseGet(() -> new ArrayList<>(1));
    keptToken = placement.entry().beside().map(PlannedEntry.Beside::token);
    Duration delay = acquisition.command().lockDelay();
    guard =
        delay.isZero()
            ? Optional.empty()
            : MarkerName.Guard.of(
                acquisition.id(), delay, AccountTag.of(acquisition.lease().account()));
    // What is placed beside another entry has its sequence number, and so a name from the start.
    name = placement.entry().beside().map(base -> nameAt(base.entry().sequence()));
  }

  /** Makes a hold whose entry another coordinator has created. */
  Hold(Acquisition acquisition, SessionEvent.AdoptedEntry entry) {
    this.acquisition = acquisition;
    lock = entry.lock();
    mode = entry.name().mode();
    beside = Optional.empty();
    here = new ArrayList<>(1);
    keptToken = entry.read().keptToken();
    guard =
        entry
            .name()
            .id()
            .flatMap(
                id -> {
                  EntryTerms terms = entry.read().details().terms();
                  return MarkerName.Guard.of(id, terms.lockDelay(), terms.guardAccount());
                });
    name = Optional.of(entry.name());
    czxid = entry.read().czxid();
    index = entry.read().index();
  }

  /** Returns the hold of this coordinator that an entry belongs to, if it does. */
  public static Optional<Hold> of(Entry entry) {
    // Entries are bound to holds alone: the queue knows no more of its owners than it asks of them.
    return entry.owner().map(Hold.class::cast);
  }

  /** Returns its entry, if it is in its queue. */
  public Optional<Entry> entryIn(Mirror mirror) {
    return isNamed() ? mirror.find(lock, name().text()) : Optional.empty();
  }

  /**
   * Returns the entry at its place in the queue: its own, or the one beside which it is created.
   */
  public Optional<Entry> placeIn(Mirror mirror) {
    return entryIn(mirror).or(() -> beside().flatMap(base -> base.entryIn(mirror)));
  }

  private EntryName nameAt(int sequence) {
    String text = EntryName.prefix(acquisition.id(), mode) + EntryName.suffix(sequence);
    return new EntryName(text, Optional.of(acquisition.id()), mode, sequence);
  }

  public Acquisition acquisition() {
    return acquisition;
  }

  public LockName lock() {
    return lock;
  }

  public Mode mode() {
    return mode;
  }

  /** Returns the hold of the same owner beside which its entry is placed, if it is. */
  public Optional<Hold> beside() {
    return beside;
  }

  /** Takes what ZooKeeper says of its entry. */
  void created(StoreEvent.CreatedEntry entry) {
    name = Optional.of(entry.name());
    czxid = entry.czxid();
    index = entry.index();
  }

  /** Returns whether the name of its entry is known. */
  public boolean isNamed() {
    return name.isPresent();
  }

  /**
   * Returns the name of its entry.
   *
   * @throws java.util.NoSuchElementException if that is not known: ZooKeeper is still to give it
   */
  public EntryName name() {
    return name.orElseThrow();
  }

  @Override
  public long czxid() {
    return czxid;
  }

  /** Returns whether its fencing token is known. */
  public boolean hasToken() {
    return keptToken.isPresent() || czxid > 0;
  }

  /** Returns the fencing token; meaningful once it is known. */
  public FencingToken token() {
    return keptToken.isPresent() ? keptToken.get() : FencingToken.of(czxid, index);
  }

  @Override
  public Optional<FencingToken> knownToken() {
    return hasToken() ? Optional.of(token()) : Optional.empty();
  }

  @Override
  public EntryDetails details() {
    return acquisition.details();
  }

  @Override
  public Optional<Long> needsNanos(long nowNanos) {
    return acquisition.description().needsNanos(nowNanos);
  }

  @Override
  public String account() {
    return acquisition.lease().account();
  }

  @Override
  public boolean hasGuard() {
    return guard.isPresent();
  }

  /** Returns the guard that is created with its entry. */
  public Optional<MarkerName.Guard> guard() {
    return guard;
  }

  /** The two are at one place: while the mirror does not show one, the other is followed by it. */
  public void joins(Hold other) {
    here.remove(this);
    here = other.here;
    awaitMirror();
  }

  /** The mirror is still to show its entry, or does not show it any more. */
  public void awaitMirror() {
    seen = false;
    if (!here.contains(this)) {
      here.add(this);
    }
  }

  /** The mirror shows its entry. */
  public void seen() {
    seen = true;
  }

  /** Returns whether the mirror has shown its entry, which may be gone since. */
  public boolean isSeen() {
    return seen;
  }

  /** There is nothing left of it. */
  public void leavePlace() {
    here.remove(this);
  }

  /** Returns what is at the same place, or is to be: it as well. */
  public List<Hold> here() {
    return List.copyOf(here);
  }

  /** Returns the others at the same place that the mirror does not show. */
  public List<Hold> followers() {
    List<Hold> followers = new ArrayList<>(0);
    for (Hold hold : here) {
      if (hold != this && !hold.seen) {
        followers.add(hold);
      }
    }
    return followers;
  }

  /** Returns whether there are {@link #followers}. */
  public boolean isFollowed() {
    for (Hold hold : here) {
      if (hold != this && !hold.seen) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether something is to be placed beside its entry and ZooKeeper has not answered. */
  public boolean awaitsFollower() {
    for (Hold hold : here) {
      if (!hold.acquisition.isAnswered() && hold.beside.filter(base -> base == this).isPresent()) {
        return true;
      }
    }
    return false;
  }

  public Standing standing() {
    return standing;
  }

  /** Learns that it is held; what was learned first stays. */
  public void grant(Proof proof) {
    if (standing instanceof Standing.Waiting) {
      standing = new Standing.Granted(proof);
    }
  }

  /** Its client gives it back, or leaves the queue. */
  public void release() {
    standing = isGranted() ? new Standing.Released() : new Standing.Left();
  }

  /** It is taken from a client that held it, or may have. */
  public void lose() {
    standing = new Standing.Lost(isGranted());
  }

  /** Returns whether its client may use the lock. */
  public boolean isGranted() {
    return standing instanceof Standing.Granted;
  }

  /**
   * Returns whether it was granted before this coordinator served it, or served it again: by what
   * its client says, or what this coordinator remembers.
   */
  public boolean wasGrantedBefore() {
    return isGrantedBy(Proof.CLIENT) || isGrantedBy(Proof.AHEAD);
  }

  /** Returns whether it is held, and that was known by {@code proof} first. */
  public boolean isGrantedBy(Proof proof) {
    return standing instanceof Standing.Granted granted && granted.proof() == proof;
  }

  /** Returns whether it is held, or was before it ended. */
  public boolean wasGranted() {
    return isGranted()
        || standing instanceof Standing.Released
        || (standing instanceof Standing.Lost lost && lost.held());
  }

  /** Returns whether the two are levels of one hold of their owner. */
  public boolean isLevelOf(Hold other) {
    return mode.equals(other.mode) && isAtPlaceOf(other);
  }

  /**
   * Returns whether one was placed beside the other, and has its token. An equal number alone says
   * little: numbers begin anew with a directory that was away.
   */
  public boolean isAtPlaceOf(Hold other) {
    return lock.equals(other.lock)
        && hasToken()
        && other.hasToken()
        && token().equals(other.token());
  }

  /** Names the entry for what is read of it or written into it. */
  public NodeKey key() {
    return new NodeKey(lock, name().text());
  }

  /** Names the entry for its deletion. Its guard goes too, unless a holder was lost. */
  public EntryRef ref() {
    boolean lost = standing instanceof Standing.Lost;
    return new EntryRef(
        lock, name().text(), lost ? Optional.empty() : guard.map(MarkerName.Guard::text));
  }

  /** Returns what makes the entry say of itself what its acquisition says now. */
  public EntryUpdate description(long nowNanos) {
    Optional<Long> needsMillis =
        needsNanos(nowNanos).map(nanos -> Duration.ofNanos(nanos).toMillis());
    return new EntryUpdate.Describe(
        acquisition.details(needsMillis), index, acquisition.holds().indexOf(this), keptToken);
  }
}
