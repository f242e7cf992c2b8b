/** Tells watchers what happens to locks, on a thread of its own and in bounded memory. */
@NullMarked
package io.lockkeeper.server.coordinator.watch;

import org.jspecify.annotations.NullMarked;
