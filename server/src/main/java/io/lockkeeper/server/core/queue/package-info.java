/** The mirror of ZooKeeper's queues, and the admission rule. Knows nodes, and nobody's leases. */
@NullMarked
package io.lockkeeper.server.core.queue;

import org.jspecify.annotations.NullMarked;
