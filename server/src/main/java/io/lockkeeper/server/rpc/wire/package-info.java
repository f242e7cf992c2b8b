/** Checks messages and translates them, and knows which status says what. */
@NullMarked
package io.lockkeeper.server.rpc.wire;

import org.jspecify.annotations.NullMarked;
