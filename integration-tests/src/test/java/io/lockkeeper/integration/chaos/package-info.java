/**
 * A cluster under faults: ZooKeeper servers, coordinators and clients in processes of their own, a
 * nemesis, and the histories that the checker in {@code integration-tests/chaos} reads afterwards.
 */
package io.lockkeeper.integration.chaos;
