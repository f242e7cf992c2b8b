package io.lockkeeper.server.core.lock;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Predicate;

/** What is ahead of an entry and holds. */
public final class Occupancy {

  private final List<Mode> modes;
  private final long weight;
  private final int smallestCapacity;
  private final OptionalInt configuredLimit;

  /** What is ahead of the place that was taken last: whoever is placed there shares that place. */
  private final Optional<Occupancy> aheadOfLast;

  private final int lastSequence;

  private Occupancy(
      List<Mode> modes,
      long weight,
      int smallestCapacity,
      OptionalInt configuredLimit,
      Optional<Occupancy> aheadOfLast,
      int lastSequence) {
    this.modes = modes;
    this.weight = weight;
    this.smallestCapacity = smallestCapacity;
    this.configuredLimit = configuredLimit;
    this.aheadOfLast = aheadOfLast;
    this.lastSequence = lastSequence;
  }

  /** Returns an occupancy of nobody, where a limit may have been configured. */
  public static Occupancy free(OptionalInt configuredLimit) {
    return new Occupancy(List.of(), 0, Integer.MAX_VALUE, configuredLimit, Optional.empty(), 0);
  }

  /** Returns whether nobody is ahead. */
  public boolean isFree() {
    return modes.isEmpty();
  }

  /** Returns whether all that hold do so in modes of which {@code rule} is true. */
  public boolean all(Predicate<Mode> rule) {
    for (Mode mode : modes) {
      if (!rule.test(mode)) {
        return false;
      }
    }
    return true;
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

  /**
   * Returns whether one more entry may hold: it goes with everything ahead, except that an owner's
   * entries at one place never exclude each other.
   */
  public boolean admits(EntryName entry) {
    return aheadOf(entry).admits(entry.mode());
  }

  /** Returns whether one more, at a place of its own, may hold in that mode. */
  public boolean admits(Mode mode) {
    String kind = mode.kind().name();
    return all(other -> other.kind().name().equals(kind)) && mode.joins(this);
  }

  /** Returns the occupancy with one more holder. */
  public Occupancy plus(EntryName entry) {
    return new Occupancy(
        with(entry.mode()),
        weight + entry.mode().weight(),
        Math.min(smallestCapacity, entry.mode().capacity()),
        configuredLimit,
        Optional.of(aheadOf(entry)),
        entry.sequence());
  }

  private List<Mode> with(Mode mode) {
    if (modes.contains(mode)) {
      return modes;
    }
    List<Mode> more = new ArrayList<>(modes);
    more.add(mode);
    return more;
  }

  /**
   * An entry at the very sequence number of another was placed there by its holder. Sequence
   * numbers are handed out once, until the counter sticks at its end: from there on equal numbers
   * mean nothing.
   */
  private Occupancy aheadOf(EntryName entry) {
    boolean beside =
        entry.mode().isReentrant() && entry.sequence() == lastSequence && !entry.isStuck();
    return beside && aheadOfLast.isPresent() ? aheadOfLast.get() : this;
  }
}
