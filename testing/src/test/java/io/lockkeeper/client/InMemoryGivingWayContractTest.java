package io.lockkeeper.client;

import io.lockkeeper.testing.InMemoryLockkeeper;
import org.junit.jupiter.api.AutoClose;

/** The contract against the server in memory. */
class InMemoryGivingWayContractTest extends GivingWayContract {

  @AutoClose private static final InMemoryLockkeeper server = InMemoryLockkeeper.start();

  @Override
  protected LockkeeperClientBuilder clientBuilder() {
    return server.clientBuilder();
  }
}
