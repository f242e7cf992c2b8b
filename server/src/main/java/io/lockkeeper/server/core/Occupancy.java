package io.lockkeeper.server.core;

import java.util.Optional;

/**
 * What the holders of a lock add up to.
 *
 * @param first the mode of the first holder, empty if there is none
 * @param permits how many permits are taken
 */
record Occupancy(Optional<Mode> first, long permits) {

  /** Nobody holds. */
  static final Occupancy FREE = new Occupancy(Optional.empty(), 0);

  /** Returns whether one more hold of {@code mode} is compatible with those that are there. */
  boolean admits(Mode mode) {
    if (first.isEmpty()) {
      return true;
    }
    if (mode instanceof Mode.Permits wanted) {
      return first.get() instanceof Mode.Permits && permits + wanted.permits() <= wanted.limit();
    }
    return mode instanceof Mode.Read && first.get() instanceof Mode.Read;
  }

  /** Returns the occupancy with one more hold. */
  Occupancy plus(Mode mode) {
    long more = mode instanceof Mode.Permits wanted ? wanted.permits() : 0;
    return new Occupancy(first.isPresent() ? first : Optional.of(mode), permits + more);
  }
}
