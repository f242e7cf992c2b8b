/**
 * Where the servers are and how they are connected to: addresses, name lookup, channels and their
 * threads.
 *
 * <p>Not part of the API: it may change at any time.
 */
@NullMarked
package io.lockkeeper.client.internal.transport;

import org.jspecify.annotations.NullMarked;
