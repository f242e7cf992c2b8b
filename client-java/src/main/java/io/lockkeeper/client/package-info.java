/** The client library: locks that know when they may no longer be relied upon. */
@NullMarked
package io.lockkeeper.client;

import org.jspecify.annotations.NullMarked;
