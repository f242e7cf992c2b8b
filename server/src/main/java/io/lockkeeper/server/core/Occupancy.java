package io.lockkeeper.server.core;

import java.util.Optional;
import java.util.OptionalInt;

/** What is ahead of an entry and holds. */
public final class Occupancy {

  private final Optional<EntryName> first;
  private final long weight;
  private final int smallestCapacity;
  private final OptionalInt configuredLimit;

  private Occupancy(
      Optional<EntryName> first, long weight, int smallestCapacity, OptionalInt configuredLimit) {
    this.first = first;
    this.weight = weight;
    this.smallestCapacity = smallestCapacity;
    this.configuredLimit = configuredLimit;
  }

  /** Returns an occupancy of nobody, where a limit may have been configured. */
  static Occupancy free(OptionalInt configuredLimit) {
    return new Occupancy(Optional.empty(), 0, Integer.MAX_VALUE, configuredLimit);
  }

  /** Returns whether nobody is ahead. */
  public boolean isFree() {
    return first.isEmpty();
  }

  /**
   * Returns the mode of the first holder.
   *
   * @throws java.util.NoSuchElementException if nobody is ahead
   */
  public Mode first() {
    return first.orElseThrow().mode();
  }

  /**
   * Returns the sequence number of the first holder.
   *
   * @throws java.util.NoSuchElementException if nobody is ahead
   */
  public int firstSequence() {
    return first.orElseThrow().sequence();
  }

  /** Returns the sum of the weights of all holders: permits taken. */
  public long weight() {
    return weight;
  }

  /** Returns the smallest capacity that a holder names. */
  public int smallestCapacity() {
    return smallestCapacity;
  }

  /** Returns the limit that was configured for the lock, which outranks those named. */
  public OptionalInt configuredLimit() {
    return configuredLimit;
  }

  /** Returns whether one more entry may hold. */
  boolean admits(EntryName entry) {
    boolean sameKind = first.isEmpty() || first().kind().name().equals(entry.mode().kind().name());
    return sameKind && entry.mode().joins(this, entry.sequence());
  }

  /** Returns the occupancy with one more holder. */
  Occupancy plus(EntryName entry) {
    return new Occupancy(
        first.isPresent() ? first : Optional.of(entry),
        weight + entry.mode().weight(),
        Math.min(smallestCapacity, entry.mode().capacity()),
        configuredLimit);
  }
}
