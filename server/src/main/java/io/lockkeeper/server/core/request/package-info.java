/**
 * What clients ask: to open leases and resume them, to acquire and release, to give way, to
 * describe, to check a token.
 */
@NullMarked
package io.lockkeeper.server.core.request;

import org.jspecify.annotations.NullMarked;
