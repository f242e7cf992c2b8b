/** The store of locks in ZooKeeper, over its asynchronous API alone. */
@NullMarked
package io.lockkeeper.server.zookeeper;

import org.jspecify.annotations.NullMarked;
