package io.lockkeeper.integration.kinds;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.ReleaseOutcome;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Readers and writers. */
final class ReadWriteIT {

  private final ManagedChannel channel = Rig.shared().connect();

  @Test
  void readersAndWritersAreGrantedInBatchesInTheOrderOfTheQueue() {
    // Given: three readers hold; a writer, two readers, a writer and a reader wait
    String lock = "read-write/order";
    try (Tenant tenant = Tenant.of(channel, "order")) {
      for (String reader : List.of("1", "2", "3")) {
        tenant.ask(reader, "", Tenant.read(lock));
      }
      tenant.ask("4", "", Tenant.write(lock));
      tenant.ask("5", "", Tenant.read(lock));
      tenant.ask("6", "", Tenant.read(lock));
      tenant.ask("7", "", Tenant.write(lock));
      tenant.ask("8", "", Tenant.read(lock));
      List<List<String>> batches =
          List.of(List.of("1", "2", "3"), List.of("4"), List.of("5", "6"), List.of("7"));

      // When
      for (List<String> batch : batches) {
        batch.forEach(tenant::awaitGrant);

        // Then
        int last = Integer.parseInt(batch.get(batch.size() - 1));
        for (int later = last + 1; later <= 8; later++) {
          assertThat(tenant.hasHeard(Integer.toString(later), EventCase.GRANTED))
              .as("%s before %s released", later, batch)
              .isFalse();
        }
        batch.forEach(tenant::release);
      }
      tenant.awaitGrant("8");
    }
  }

  @Test
  void writerIsGrantedAgainstReadersThatNeverPause() {
    // Given: one task reads, others want to before it stops, so that the lock would never be free
    String lock = "read-write/starve";
    try (Tenant readers = Tenant.of(channel, "readers");
        Tenant writer = Tenant.of(channel, "writer")) {
      readers.ask("r0", "task-0", Tenant.read(lock));

      // When
      assertThat(writer.ask("w", "", Tenant.write(lock))).isEqualTo(EventCase.QUEUED);
      for (int i = 1; i <= 5; i++) {
        assertThat(readers.ask("r" + i, "task-" + i, Tenant.read(lock)))
            .isEqualTo(EventCase.QUEUED);
      }
      readers.release("r0");

      // Then
      writer.awaitGrant("w");
      for (int i = 1; i <= 5; i++) {
        assertThat(readers.hasHeard("r" + i, EventCase.GRANTED)).isFalse();
      }
      writer.release("w");
      for (int i = 1; i <= 5; i++) {
        readers.awaitGrant("r" + i);
      }
    }
  }

  @Test
  void downgradeKeepsTheWaitingWriterOutAndTheTokenOfTheWriteLock() {
    // Given
    String lock = "read-write/downgrade";
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant writer = Tenant.of(channel, "writer");
        Tenant reader = Tenant.of(channel, "reader")) {
      holder.ask("write", "task", Tenant.write(lock));
      long token = holder.awaitGrant("write").getFencingToken();
      assertThat(writer.ask("w", "", Tenant.write(lock))).isEqualTo(EventCase.QUEUED);

      // When
      holder.ask("read", "task", Tenant.read(lock));
      assertThat(holder.awaitGrant("read").getFencingToken()).isEqualTo(token);
      assertThat(holder.outcomeOfRelease("write"))
          .isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);

      // Then
      assertThat(reader.ask("r", "", Tenant.read(lock)))
          .as("behind the writer")
          .isEqualTo(EventCase.QUEUED);
      assertThat(writer.hasHeard("w", EventCase.GRANTED)).isFalse();
      holder.release("read");
      assertThat(writer.awaitGrant("w").getFencingToken()).isGreaterThan(token);
    }
  }

  @Test
  void downgradeLetsTheReadersInWhoWaitNext() {
    // Given
    String lock = "read-write/downgrade-readers";
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant reader = Tenant.of(channel, "reader")) {
      holder.ask("write", "task", Tenant.write(lock));
      assertThat(reader.ask("r", "", Tenant.read(lock))).isEqualTo(EventCase.QUEUED);

      // When
      holder.ask("read", "task", Tenant.read(lock));
      holder.awaitGrant("read");
      assertThat(reader.hasHeard("r", EventCase.GRANTED)).isFalse();
      holder.release("write");

      // Then
      reader.awaitGrant("r");
      assertThat(holder.outcomeOfRelease("read"))
          .isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    }
  }

  @Test
  void readLockOfADowngradeMayBeReleasedFirst() {
    // Given
    String lock = "read-write/downgrade-back";
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant reader = Tenant.of(channel, "reader")) {
      holder.ask("write", "task", Tenant.write(lock));
      holder.ask("read", "task", Tenant.read(lock));
      holder.awaitGrant("read");

      // When
      holder.release("read");

      // Then
      assertThat(reader.ask("r", "", Tenant.read(lock)))
          .as("the write lock is still held")
          .isEqualTo(EventCase.QUEUED);
      holder.release("write");
      reader.awaitGrant("r");
    }
  }

  @Test
  void refusedUpgradeLeavesTheReadLockHeldAndTheQueueAsItWas() {
    // Given
    String lock = "read-write/upgrade";
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant writer = Tenant.of(channel, "writer")) {
      holder.ask("read", "task", Tenant.read(lock));

      // When
      EventCase upgrade = holder.ask("write", "task", Tenant.write(lock));

      // Then
      assertThat(upgrade).isEqualTo(EventCase.NOT_ACQUIRED);
      assertThat(holder.awaitNotAcquired("write").getMessage()).contains(lock);
      assertThat(writer.ask("w", "", Tenant.write(lock))).isEqualTo(EventCase.QUEUED);
      holder.release("read");
      writer.awaitGrant("w");
    }
  }

  @Test
  void readLocksOfAnEndedLeaseAreFreeForTheWriter() {
    // Given
    String lock = "read-write/lease";
    try (Tenant writer = Tenant.of(channel, "writer")) {
      Tenant reader = Tenant.of(channel, "reader", Duration.ofSeconds(4));
      reader.ask("r", "", Tenant.read(lock));
      assertThat(writer.ask("w", "", Tenant.write(lock))).isEqualTo(EventCase.QUEUED);

      // When: nobody renews the reader's lease
      reader.await("r", EventCase.LOST);

      // Then
      writer.awaitGrant("w");
    }
  }
}
