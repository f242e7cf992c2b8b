/**
 * How a client was built, and what all its parts share.
 *
 * <p>Not part of the API: it may change at any time.
 */
@NullMarked
package io.lockkeeper.client.internal.context;

import org.jspecify.annotations.NullMarked;
