/** Keeps locks and leases in ZooKeeper, through its raw asynchronous API. */
@NullMarked
package io.lockkeeper.server.zookeeper;

import org.jspecify.annotations.NullMarked;
