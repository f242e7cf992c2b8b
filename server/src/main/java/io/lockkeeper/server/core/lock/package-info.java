/** Locks and their nodes as values: names, modes, kinds, tokens, and what a node says of itself. */
@NullMarked
package io.lockkeeper.server.core.lock;

import org.jspecify.annotations.NullMarked;
