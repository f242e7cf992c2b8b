package io.lockkeeper.client;

import io.lockkeeper.testing.InMemoryLockkeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract against the server in memory. */
class InMemorySemaphoreContractTest extends SemaphoreContract {

  private static InMemoryLockkeeper server;

  @BeforeAll
  static void start() {
    server = InMemoryLockkeeper.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  protected LockkeeperClientBuilder clientBuilder() {
    return server.clientBuilder();
  }
}
