/** Decides: names, entries, queues, admission, acquisitions and leases, as values in and out. */
@NullMarked
package io.lockkeeper.server.core;

import org.jspecify.annotations.NullMarked;
