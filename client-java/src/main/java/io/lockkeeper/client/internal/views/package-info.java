/**
 * What the public views of locks need besides the client: owners for threads, the permits that were
 * taken, futures made of futures.
 *
 * <p>Not part of the API: it may change at any time.
 */
@NullMarked
package io.lockkeeper.client.internal.views;

import org.jspecify.annotations.NullMarked;
