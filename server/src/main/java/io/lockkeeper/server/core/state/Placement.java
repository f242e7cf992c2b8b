package io.lockkeeper.server.core.state;

import io.lockkeeper.server.core.lock.PlannedEntry;
import java.util.Optional;

/**
 * How one lock of a request is to be had: by an entry of its own, at the end of the queue or beside
 * what its owner holds.
 *
 * @param entry the entry
 * @param beside the hold of the same owner beside which it is placed, if it is
 */
public record Placement(PlannedEntry entry, Optional<Hold> beside) {}
