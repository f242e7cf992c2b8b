/**
 * Locks that stay with the client when they are released, as long as nobody else wants them.
 *
 * <p>Not part of the API: it may change at any time.
 */
@NullMarked
package io.lockkeeper.client.internal.kept;

import org.jspecify.annotations.NullMarked;
