/**
 * Several shards: which of them serves what, as far as a client knows, and a session at each that
 * it uses.
 *
 * <p>Not part of the API: it may change at any time.
 */
@NullMarked
package io.lockkeeper.client.internal.shard;

import org.jspecify.annotations.NullMarked;
