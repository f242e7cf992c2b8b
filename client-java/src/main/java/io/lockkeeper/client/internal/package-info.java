/**
 * What the client and its in-memory server share. Not part of the API: it may change at any time.
 */
@NullMarked
package io.lockkeeper.client.internal;

import org.jspecify.annotations.NullMarked;
