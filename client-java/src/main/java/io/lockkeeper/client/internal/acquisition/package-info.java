/**
 * The life of one request for locks, from the queue to the release or loss of what it was granted,
 * and the registry of all of them.
 *
 * <p>Not part of the API: it may change at any time.
 */
@NullMarked
package io.lockkeeper.client.internal.acquisition;

import org.jspecify.annotations.NullMarked;
