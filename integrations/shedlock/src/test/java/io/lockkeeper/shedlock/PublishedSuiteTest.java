package io.lockkeeper.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.testing.InMemoryLockkeeper;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.test.support.AbstractExtensibleLockProviderIntegrationTest;
import org.junit.jupiter.api.AutoClose;

/** The tests that ShedLock publishes for those who implement a provider. */
class PublishedSuiteTest extends AbstractExtensibleLockProviderIntegrationTest {

  @AutoClose private final InMemoryLockkeeper server = InMemoryLockkeeper.start();
  @AutoClose private final LockkeeperClient client = server.clientBuilder().build();
  @AutoClose private final LockkeeperLockProvider provider = new LockkeeperLockProvider(client);

  @Override
  protected ExtensibleLockProvider getLockProvider() {
    return provider;
  }

  @Override
  protected void assertUnlocked(String lockName) {
    await().until(() -> server.holderToken("shedlock/" + lockName).isEmpty());
  }

  @Override
  protected void assertLocked(String lockName) {
    assertThat(server.holderToken("shedlock/" + lockName)).isPresent();
  }
}
