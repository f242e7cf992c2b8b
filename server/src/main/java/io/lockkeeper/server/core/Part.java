package io.lockkeeper.server.core;

import java.util.Optional;

/** How one lock of a request is to be had. */
sealed interface Part {

  /**
   * By a new entry.
   *
   * @param entry the entry
   * @param beside the hold that it goes on, if it does
   */
  record Fresh(PlannedEntry entry, Optional<Hold> beside) implements Part {}

  /**
   * By a hold that its owner has already.
   *
   * @param hold the hold
   */
  record Shared(Hold hold) implements Part {}
}
