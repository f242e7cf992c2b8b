/** Coordinators that die, ZooKeeper that stumbles, clients that freeze: what becomes of locks. */
package io.lockkeeper.integration.failover;
