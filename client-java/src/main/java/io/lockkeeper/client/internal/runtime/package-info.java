/**
 * A running client: wires its parts, offers the calls that the public classes make, and ends them.
 *
 * <p>Not part of the API: it may change at any time.
 */
@NullMarked
package io.lockkeeper.client.internal.runtime;

import org.jspecify.annotations.NullMarked;
