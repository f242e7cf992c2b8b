/**
 * Translates between the client's values and the messages of the protocol, and checks names and
 * ranges before anything is sent.
 *
 * <p>Not part of the API: it may change at any time.
 */
@NullMarked
package io.lockkeeper.client.internal.protocol;

import org.jspecify.annotations.NullMarked;
