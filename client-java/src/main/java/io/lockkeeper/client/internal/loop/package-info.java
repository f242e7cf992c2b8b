/**
 * The threads of a client: the event loop that owns all its state, with its timers and clock, the
 * executor of the user's callbacks, and the backoff between attempts.
 *
 * <p>Not part of the API: it may change at any time.
 */
@NullMarked
package io.lockkeeper.client.internal.loop;

import org.jspecify.annotations.NullMarked;
