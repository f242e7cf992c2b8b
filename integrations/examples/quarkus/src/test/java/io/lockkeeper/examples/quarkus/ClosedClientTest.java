package io.lockkeeper.examples.quarkus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.testing.InMemoryLockkeeper;
import io.quarkus.arc.Arc;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The client at the end of the application, of which it has one of its own. */
@QuarkusTest
@TestProfile(ClosedClientTest.OwnApplication.class)
@Timeout(60)
class ClosedClientTest {

  /** Another profile, for which Quarkus starts the application again. */
  public static final class OwnApplication implements QuarkusTestProfile {}

  @Inject InMemoryLockkeeper server;
  @Inject LockkeeperClient client;

  @Test
  void clientWhoseBeanIsDestroyedGivesItsLocksBack() throws InterruptedException {
    // Given
    LockHandle held = client.lock("stock/lamp");
    int leases = server.leaseCount();
    // When
    Arc.container().instance(LockkeeperClient.class).destroy();
    // Then
    assertThat(leases).isEqualTo(1);
    assertThat(server.leaseCount()).isZero();
    assertThat(held.isValid()).isFalse();
    assertThatIllegalStateException().isThrownBy(() -> client.lock("stock/lamp"));
  }
}
