package io.lockkeeper.howto;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.PreviousEnd;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/** Brings a database's schema to a version at the start of every instance, by one of them. */
final class Migrations {

  private static final Set<PreviousEnd> DIED =
      EnumSet.of(PreviousEnd.LEASE_EXPIRED, PreviousEnd.COORDINATOR_LOST, PreviousEnd.LOST);

  /** What a library of migrations does: a few lines around Flyway's or Liquibase's own classes. */
  interface Schema {

    /** Returns the version that the database has. */
    int version();

    /** Migrates it, and returns when it has that version. */
    void migrateTo(int version);

    /** Returns whether a migration was begun and has not ended well. */
    boolean isHalfDone();

    /** Puts that right. */
    void repair();
  }

  private final LockkeeperClient client;
  private final Schema schema;

  Migrations(LockkeeperClient client, Schema schema) {
    this.client = client;
    this.schema = schema;
  }

  /**
   * Returns when the database has the version, whichever instance has brought it there.
   *
   * @throws IllegalStateException if a migration has failed, and somebody must look at it
   */
  void bringTo(int version) throws InterruptedException {
    LockRequest request =
        LockRequest.of("db/shop/migrations")
            .waitAtMost(Duration.ofMinutes(30))
            .lockDelay(Duration.ofSeconds(30))
            .metadata("purpose", "migrate to " + version);
    client.runWithLock(request, lock -> migrate(lock, version));
  }

  private void migrate(LockHandle lock, int version) {
    if (schema.isHalfDone()) {
      if (!DIED.contains(lock.previousEnd())) {
        throw new IllegalStateException("the last migration has failed: look at it, and repair it");
      }
      schema.repair();
    }
    if (schema.version() < version) {
      schema.migrateTo(version);
    }
  }
}
