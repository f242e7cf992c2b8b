package io.lockkeeper.client;

import org.junit.jupiter.api.Nested;

/**
 * All contracts of a client with its server, for a class that registers its {@link
 * ServerUnderTest}.
 */
public abstract class Contracts {

  @Nested
  final class Clients extends ClientContract {}

  @Nested
  final class Kinds extends KindsContract {}

  @Nested
  final class Locks extends LockContract {}

  @Nested
  final class ReadWriteLocks extends ReadWriteLockContract {}

  @Nested
  final class Semaphores extends SemaphoreContract {}

  @Nested
  final class GivingWay extends GivingWayContract {}

  @Nested
  final class Kept extends KeptLocksContract {}

  @Nested
  final class Deadlocks extends DeadlockContract {}

  @Nested
  final class Elections extends ElectionContract {}

  @Nested
  final class Resumes extends ResumeContract {}
}
