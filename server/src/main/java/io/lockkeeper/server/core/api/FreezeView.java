package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.Freeze;
import java.util.Optional;

/**
 * A frozen prefix as this coordinator sees it.
 *
 * @param freeze the freeze
 * @param frozenForNanos for how long it is known here to be frozen
 * @param thawsInNanos when it thaws by itself, at the latest, if it does
 */
public record FreezeView(Freeze freeze, long frozenForNanos, Optional<Long> thawsInNanos) {}
