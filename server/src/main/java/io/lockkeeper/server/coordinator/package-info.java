/** Runs the core on one serial event loop, and carries out its effects. */
@NullMarked
package io.lockkeeper.server.coordinator;

import org.jspecify.annotations.NullMarked;
