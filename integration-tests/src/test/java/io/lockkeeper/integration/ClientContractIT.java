package io.lockkeeper.integration;

import io.lockkeeper.client.ClientContract;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperClientBuilder;
import io.lockkeeper.integration.harness.Rig;

/** The client's contract against a real server, so that the server in memory cannot lie. */
final class ClientContractIT extends ClientContract {

  @Override
  protected LockkeeperClientBuilder clientBuilder() {
    return LockkeeperClient.builder(Rig.shared().server().address());
  }
}
