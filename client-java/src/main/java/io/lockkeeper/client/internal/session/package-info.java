/**
 * The session of a client with the servers: the stream that is kept open and resumed, and what it
 * does with the lease and the acquisitions.
 *
 * <p>Not part of the API: it may change at any time.
 */
@NullMarked
package io.lockkeeper.client.internal.session;

import org.jspecify.annotations.NullMarked;
