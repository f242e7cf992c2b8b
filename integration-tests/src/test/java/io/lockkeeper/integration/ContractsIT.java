package io.lockkeeper.integration;

import io.lockkeeper.client.Contracts;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.ServerUnderTest;
import io.lockkeeper.integration.harness.Rig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The client's contracts against a real server, so that the server in memory cannot lie. */
@Tag("smoke")
final class ContractsIT extends Contracts {

  @RegisterExtension
  static final ServerUnderTest server =
      new ServerUnderTest(() -> LockkeeperClient.builder(Rig.shared().server().address()));
}
