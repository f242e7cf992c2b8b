package io.lockkeeper.examples.micronaut;

import io.lockkeeper.client.LockkeeperClientBuilder;
import io.lockkeeper.testing.InMemoryLockkeeper;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Prototype;
import io.micronaut.context.annotation.Replaces;

/**
 * Connects the application's client to a coordinator in memory, in place of the configured ones.
 */
@Factory
final class InMemoryFactory {

  @Prototype
  @Replaces(bean = LockkeeperClientBuilder.class, factory = LockkeeperFactory.class)
  LockkeeperClientBuilder builder(InMemoryLockkeeper server) {
    return server.clientBuilder();
  }
}
