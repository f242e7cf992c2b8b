/** Handles to ZooKeeper, the connections that use them, and the thread of the store. */
@NullMarked
package io.lockkeeper.server.zookeeper.client;

import org.jspecify.annotations.NullMarked;
