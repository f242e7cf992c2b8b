/** Feeds the core's mirror: the watch, the rebuild after an outage, single reads. */
@NullMarked
package io.lockkeeper.server.zookeeper.mirror;

import org.jspecify.annotations.NullMarked;
