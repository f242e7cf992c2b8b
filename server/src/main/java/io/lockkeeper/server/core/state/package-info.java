/** What the core remembers: leases, acquisitions with their state machine, and their entries. */
@NullMarked
package io.lockkeeper.server.core.state;

import org.jspecify.annotations.NullMarked;
