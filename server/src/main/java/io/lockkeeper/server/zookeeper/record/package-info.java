/** Where everything is in ZooKeeper and what is written there: paths, names, data. */
@NullMarked
package io.lockkeeper.server.zookeeper.record;

import org.jspecify.annotations.NullMarked;
