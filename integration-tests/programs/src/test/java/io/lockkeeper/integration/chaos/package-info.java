/**
 * A cluster under faults: ZooKeeper servers, coordinators and clients in separate processes, a
 * nemesis, and the histories that the checker in {@code programs/chaos} reads afterwards.
 */
package io.lockkeeper.integration.chaos;
