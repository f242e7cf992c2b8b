/** Decides: {@link io.lockkeeper.server.core.Kernel} takes every event and returns the effects. */
@NullMarked
package io.lockkeeper.server.core;

import org.jspecify.annotations.NullMarked;
