package io.lockkeeper.server.core;

import java.util.Comparator;
import java.util.Optional;

/** One entry of a queue, as the mirror has it. Belongs to its {@link LockQueue}. */
final class Entry {

  /**
   * By sequence number; where those tie (the counter sticks at 2147483647), by creation; entries
   * that one transaction created, in the order in which their events came.
   */
  static final Comparator<Entry> ORDER =
      Comparator.<Entry>comparingInt(e -> e.name.sequence())
          .thenComparingLong(e -> e.orderingZxid)
          .thenComparingLong(e -> e.arrival);

  private static final long NOT_HOLDING = Long.MIN_VALUE;

  private final EntryName name;
  private final long orderingZxid;
  private final long arrival;
  private final long seenAtNanos;
  private Optional<Ticket> ticket = Optional.empty();
  private Optional<EntryDetails> details = Optional.empty();
  private Optional<FencingToken> token = Optional.empty();
  private long heldSinceNanos = NOT_HOLDING;
  private boolean released;
  private int place = -1;

  /**
   * Makes an entry.
   *
   * @param name the znode name
   * @param orderingZxid the creation zxid, or zero where it is not known and the sequence number
   *     decides alone
   * @param arrival rises with every entry that the mirror sees
   * @param seenAtNanos when the mirror saw it first
   */
  Entry(EntryName name, long orderingZxid, long arrival, long seenAtNanos) {
    this.name = name;
    this.orderingZxid = orderingZxid;
    this.arrival = arrival;
    this.seenAtNanos = seenAtNanos;
  }

  EntryName name() {
    return name;
  }

  Mode mode() {
    return name.mode();
  }

  /** Returns our own acquisition, if the entry is of one. */
  Optional<Ticket> ticket() {
    return ticket;
  }

  void bind(Ticket own) {
    ticket = Optional.of(own);
  }

  /** Returns what the entry says of itself, if it is ours or was read. */
  Optional<EntryDetails> details() {
    return details.or(() -> ticket.map(Ticket::details));
  }

  Optional<FencingToken> token() {
    return token.or(() -> ticket.flatMap(t -> t.tokenOf(name.text())));
  }

  void learn(StoreEvent.ReadEntry read) {
    details = Optional.of(read.details());
    token = Optional.of(FencingToken.of(read.czxid(), read.index()));
  }

  long seenAtNanos() {
    return seenAtNanos;
  }

  boolean holds() {
    return heldSinceNanos != NOT_HOLDING;
  }

  long heldSinceNanos() {
    return heldSinceNanos;
  }

  void hold(long nowNanos) {
    heldSinceNanos = nowNanos;
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
  boolean isReleased() {
    return released;
  }

  void markReleased() {
    released = true;
  }
}
