/** Configuration, wiring, start and stop of a coordinator. */
@NullMarked
package io.lockkeeper.server.app;

import org.jspecify.annotations.NullMarked;
