/** What goes into the core and what comes out: events, effects, answers, notices, views. */
@NullMarked
package io.lockkeeper.server.core.api;

import org.jspecify.annotations.NullMarked;
