package io.lockkeeper.server.core;

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
final class Hold implements EntryOwner {

  /** Where a hold stands. */
  sealed interface Standing {

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
  enum Proof {
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

  private final Ticket ticket;
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
   * @param ticket whose it is
   * @param part what is to be created, and beside what
   */
  Hold(Ticket ticket, Part part) {
    this.ticket = ticket;
    lock = part.entry().lock();
    mode = part.entry().mode();
    beside = part.beside();
    here = beside.map(base -> base.here).orElseGet(() -> new ArrayList<>(1));
    keptToken = part.entry().beside().map(PlannedEntry.Beside::token);
    guard = MarkerName.Guard.of(ticket.id(), ticket.command().lockDelay());
    // What is placed beside another entry has its sequence number, and so a name from the start.
    name = part.entry().beside().map(base -> nameAt(base.entry().sequence()));
  }

  /** Makes a hold whose entry another coordinator has created. */
  Hold(Ticket ticket, SessionEvent.AdoptedEntry entry) {
    this.ticket = ticket;
    lock = entry.lock();
    mode = entry.name().mode();
    beside = Optional.empty();
    here = new ArrayList<>(1);
    keptToken = entry.read().keptToken();
    guard =
        entry
            .name()
            .id()
            .flatMap(id -> MarkerName.Guard.of(id, entry.read().details().terms().lockDelay()));
    name = Optional.of(entry.name());
    czxid = entry.read().czxid();
    index = entry.read().index();
  }

  /** Returns the hold of this coordinator that an entry belongs to, if it does. */
  static Optional<Hold> of(Entry entry) {
    // Entries are bound to holds alone: the queue knows no more of its owners than it asks of them.
    return entry.owner().map(Hold.class::cast);
  }

  /** Returns its entry, if it is in its queue. */
  Optional<Entry> entryIn(Mirror mirror) {
    return isNamed() ? mirror.find(lock, name().text()) : Optional.empty();
  }

  private EntryName nameAt(int sequence) {
    String text = EntryName.prefix(ticket.id(), mode) + EntryName.suffix(sequence);
    return new EntryName(text, Optional.of(ticket.id()), mode, sequence);
  }

  Ticket ticket() {
    return ticket;
  }

  LockName lock() {
    return lock;
  }

  Mode mode() {
    return mode;
  }

  /** Returns the hold of the same owner beside which its entry is placed, if it is. */
  Optional<Hold> beside() {
    return beside;
  }

  /** Takes what ZooKeeper says of its entry. */
  void created(StoreEvent.CreatedEntry entry) {
    name = Optional.of(entry.name());
    czxid = entry.czxid();
    index = entry.index();
  }

  /** Returns whether the name of its entry is known. */
  boolean isNamed() {
    return name.isPresent();
  }

  /**
   * Returns the name of its entry.
   *
   * @throws java.util.NoSuchElementException if that is not known: ZooKeeper is still to give it
   */
  EntryName name() {
    return name.orElseThrow();
  }

  @Override
  public long czxid() {
    return czxid;
  }

  /** Returns whether its fencing token is known. */
  boolean hasToken() {
    return keptToken.isPresent() || czxid > 0;
  }

  /** Returns the fencing token; meaningful once it is known. */
  FencingToken token() {
    return keptToken.isPresent() ? keptToken.get() : FencingToken.of(czxid, index);
  }

  @Override
  public Optional<FencingToken> knownToken() {
    return hasToken() ? Optional.of(token()) : Optional.empty();
  }

  @Override
  public EntryDetails details() {
    return ticket.details();
  }

  @Override
  public Optional<Long> needsNanos(long nowNanos) {
    return ticket.description().needsNanos(nowNanos);
  }

  @Override
  public boolean hasGuard() {
    return guard.isPresent();
  }

  /** Returns the guard that is created with its entry. */
  Optional<MarkerName.Guard> guard() {
    return guard;
  }

  /** The two are at one place: while the mirror does not show one, the other is followed by it. */
  void joins(Hold other) {
    here.remove(this);
    here = other.here;
    awaitMirror();
  }

  /** The mirror is still to show its entry, or does not show it any more. */
  void awaitMirror() {
    seen = false;
    if (!here.contains(this)) {
      here.add(this);
    }
  }

  /** The mirror shows its entry. */
  void seen() {
    seen = true;
  }

  /** Returns whether the mirror has shown its entry, which may be gone since. */
  boolean isSeen() {
    return seen;
  }

  /** There is nothing left of it. */
  void leavePlace() {
    here.remove(this);
  }

  /** Returns what is at the same place, or is to be: it as well. */
  List<Hold> here() {
    return List.copyOf(here);
  }

  /** Returns the others at the same place that the mirror does not show. */
  List<Hold> followers() {
    return here.stream().filter(hold -> hold != this && !hold.seen).toList();
  }

  /** Returns whether there are {@link #followers}. */
  boolean isFollowed() {
    for (Hold hold : here) {
      if (hold != this && !hold.seen) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether something is to be placed beside its entry and ZooKeeper has not answered. */
  boolean awaitsFollower() {
    for (Hold hold : here) {
      if (!hold.ticket.isAnswered() && hold.beside.filter(base -> base == this).isPresent()) {
        return true;
      }
    }
    return false;
  }

  Standing standing() {
    return standing;
  }

  /** Learns that it is held; what was learned first stays. */
  void grant(Proof proof) {
    if (standing instanceof Standing.Waiting) {
      standing = new Standing.Granted(proof);
    }
  }

  /** Its client gives it back, or leaves the queue. */
  void release() {
    standing = isGranted() ? new Standing.Released() : new Standing.Left();
  }

  /** It is taken from a client that held it, or may have. */
  void lose() {
    standing = new Standing.Lost(isGranted());
  }

  /** Returns whether its client may use the lock. */
  boolean isGranted() {
    return standing instanceof Standing.Granted;
  }

  /**
   * Returns whether it was granted before this coordinator served it, or served it again: by what
   * its client says, or what this coordinator remembers.
   */
  boolean wasGrantedBefore() {
    return isGrantedBy(Proof.CLIENT) || isGrantedBy(Proof.AHEAD);
  }

  /** Returns whether it is held, and that was known by {@code proof} first. */
  boolean isGrantedBy(Proof proof) {
    return standing instanceof Standing.Granted granted && granted.proof() == proof;
  }

  /** Returns whether it is held, or was before it ended. */
  boolean wasGranted() {
    return isGranted()
        || standing instanceof Standing.Released
        || (standing instanceof Standing.Lost lost && lost.held());
  }

  /** Returns whether the two are levels of one hold of their owner. */
  boolean isLevelOf(Hold other) {
    return mode.equals(other.mode) && isAtPlaceOf(other);
  }

  /**
   * Returns whether one was placed beside the other, and has its token. An equal number alone says
   * little: numbers begin anew with a directory that was away.
   */
  boolean isAtPlaceOf(Hold other) {
    return lock.equals(other.lock)
        && hasToken()
        && other.hasToken()
        && token().equals(other.token());
  }

  /** Names the entry for what is read of it or written into it. */
  NodeKey key() {
    return new NodeKey(lock, name().text());
  }

  /** Names the entry for its deletion. Its guard goes too, unless a holder was lost. */
  EntryRef ref() {
    boolean lost = standing instanceof Standing.Lost;
    return new EntryRef(
        lock, name().text(), lost ? Optional.empty() : guard.map(MarkerName.Guard::text));
  }

  /** Returns what makes the entry say of itself what its acquisition says now. */
  Amendment description() {
    return new Amendment.Describe(ticket.details(), index, ticket.holds().indexOf(this), keptToken);
  }
}
