/**
 * What the client tells metrics and traces of waits, holds and losses. Only the classes that name
 * Micrometer or OpenTelemetry need these libraries, and they are loaded only when the client is
 * built with one of them.
 *
 * <p>Not part of the API: it may change at any time.
 */
@NullMarked
package io.lockkeeper.client.internal.telemetry;

import org.jspecify.annotations.NullMarked;
