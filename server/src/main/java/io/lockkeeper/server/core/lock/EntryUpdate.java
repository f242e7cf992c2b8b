package io.lockkeeper.server.core.lock;

import java.util.Optional;

/** A change of an entry that exists, made by whoever has the right to. */
public sealed interface EntryUpdate {

  /**
   * Makes the entry say this of itself. What the entry was created with (its place in its request,
   * its index, what its token is made of) stays, and so does a wish that it carries already; both
   * are taken from here only where somebody has overwritten the whole, as Curator's Revoker does.
   *
   * @param details what it says from now on
   * @param index its index among the entries that its transaction created in its lock
   * @param ordinal which lock of its request it is for, from zero
   * @param keptToken the token that it keeps of the hold that it goes on, if it does
   */
  record Describe(EntryDetails details, int index, int ordinal, Optional<FencingToken> keptToken)
      implements EntryUpdate {}

  /**
   * Adds a wish to an entry that somebody else serves. An entry of Curator's gets what Curator's
   * own Revoker writes.
   *
   * @param ask the wish
   */
  record Ask(RevocationRequest ask) implements EntryUpdate {}

  /** Deletes the entry, whoever owns it. Its guard, if it has one, stays. */
  record Remove() implements EntryUpdate {}

  /** What came of it. */
  enum Outcome {
    /** It is done. */
    DONE,
    /** The entry does not exist any more. */
    GONE,
    /**
     * It was written by a newer release, in a format that this one cannot read: it is as it was.
     */
    UNREADABLE,
    /** It could not be done, or nobody knows whether it was. */
    FAILED
  }
}
