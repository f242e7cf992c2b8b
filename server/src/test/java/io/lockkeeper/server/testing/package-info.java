/**
 * Real ZooKeeper processes and a proxy that breaks connections to them, for tests of every module.
 */
package io.lockkeeper.server.testing;
