package io.lockkeeper.client;

import io.lockkeeper.testing.InMemoryLockkeeper;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The contracts against the server in memory. */
final class InMemoryContractsTest extends Contracts {

  @AutoClose private static final InMemoryLockkeeper memory = InMemoryLockkeeper.start();

  @RegisterExtension
  static final ServerUnderTest server = new ServerUnderTest(memory::clientBuilder);
}
