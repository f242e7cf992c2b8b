package io.lockkeeper.integration;

import io.lockkeeper.client.DeadlockContract;
import io.lockkeeper.client.ElectionContract;
import io.lockkeeper.client.GivingWayContract;
import io.lockkeeper.client.KindsContract;
import io.lockkeeper.client.LockContract;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperClientBuilder;
import io.lockkeeper.client.ReadWriteLockContract;
import io.lockkeeper.client.ResumeContract;
import io.lockkeeper.client.SemaphoreContract;
import io.lockkeeper.integration.harness.Rig;
import org.junit.jupiter.api.Nested;

/**
 * The contracts of the client's views against a real server, so that the server in memory cannot
 * lie.
 */
final class KindContractsIT {

  private static LockkeeperClientBuilder real() {
    return LockkeeperClient.builder(Rig.shared().server().address());
  }

  @Nested
  final class Kinds extends KindsContract {
    @Override
    protected LockkeeperClientBuilder clientBuilder() {
      return real();
    }
  }

  @Nested
  final class Locks extends LockContract {
    @Override
    protected LockkeeperClientBuilder clientBuilder() {
      return real();
    }
  }

  @Nested
  final class ReadWriteLocks extends ReadWriteLockContract {
    @Override
    protected LockkeeperClientBuilder clientBuilder() {
      return real();
    }
  }

  @Nested
  final class Semaphores extends SemaphoreContract {
    @Override
    protected LockkeeperClientBuilder clientBuilder() {
      return real();
    }
  }

  @Nested
  final class GivingWay extends GivingWayContract {
    @Override
    protected LockkeeperClientBuilder clientBuilder() {
      return real();
    }
  }

  @Nested
  final class Deadlocks extends DeadlockContract {
    @Override
    protected LockkeeperClientBuilder clientBuilder() {
      return real();
    }
  }

  @Nested
  final class Elections extends ElectionContract {
    @Override
    protected LockkeeperClientBuilder clientBuilder() {
      return real();
    }
  }

  @Nested
  final class Resumes extends ResumeContract {
    @Override
    protected LockkeeperClientBuilder clientBuilder() {
      return real();
    }
  }
}
