/** Traces acquisitions with OpenTelemetry. */
@NullMarked
package io.lockkeeper.server.trace;

import org.jspecify.annotations.NullMarked;
