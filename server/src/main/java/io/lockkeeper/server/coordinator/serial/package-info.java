/** Runs tasks one at a time: the executor, the event loop on it, and what ends a broken one. */
@NullMarked
package io.lockkeeper.server.coordinator.serial;

import org.jspecify.annotations.NullMarked;
