/** What other coordinators leave to this one, what this one leaves to them, and outages. */
@NullMarked
package io.lockkeeper.server.core.takeover;

import org.jspecify.annotations.NullMarked;
