package io.lockkeeper.examples.quarkus;

import io.lockkeeper.client.LockkeeperClientBuilder;
import io.lockkeeper.testing.InMemoryLockkeeper;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Alternative;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/**
 * Connects the application's client to a coordinator in memory, in place of the configured ones.
 */
@Singleton
final class InMemoryCoordinator {

  @Produces
  @Singleton
  InMemoryLockkeeper server() {
    return InMemoryLockkeeper.start();
  }

  @Produces
  @Dependent
  @Alternative
  @Priority(1)
  LockkeeperClientBuilder builder(InMemoryLockkeeper server) {
    return server.clientBuilder();
  }
}
