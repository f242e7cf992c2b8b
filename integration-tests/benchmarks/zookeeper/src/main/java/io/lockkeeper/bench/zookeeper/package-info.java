/** Loads on ZooKeeper: itself, one by one and in transactions, and Curator's mutex. */
@NullMarked
package io.lockkeeper.bench.zookeeper;

import org.jspecify.annotations.NullMarked;
