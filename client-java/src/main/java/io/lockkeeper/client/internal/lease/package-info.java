/**
 * The client's lease: its deadline by the client's own clock, and the keep-alives that extend it.
 *
 * <p>Not part of the API: it may change at any time.
 */
@NullMarked
package io.lockkeeper.client.internal.lease;

import org.jspecify.annotations.NullMarked;
