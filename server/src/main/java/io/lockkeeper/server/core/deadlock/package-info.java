/** Finds cycles of waits, and refuses the request that would close one. */
@NullMarked
package io.lockkeeper.server.core.deadlock;

import org.jspecify.annotations.NullMarked;
