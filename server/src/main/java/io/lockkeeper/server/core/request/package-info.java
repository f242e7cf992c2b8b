/** What clients ask: to acquire and release, to give way, to describe, to check a token. */
@NullMarked
package io.lockkeeper.server.core.request;

import org.jspecify.annotations.NullMarked;
