package io.lockkeeper.server.zookeeper.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Records of leases: written once, and never taken for ours where they are another session's. */
final class LeaseWritesTest extends CommitBench {

  @Test
  void recordThatExistsIsAnothersIfNoAttemptIsWithoutAnswer() {
    // Given
    LeaseId lease = new LeaseId(1, 2);
    commit.add(record(lease));
    commit.open();
    // When
    fail(1, Code.NODEEXISTS);
    // Then: nobody else's writes wait for a look
    assertThat(doubt).isFalse();
    assertThat(events).containsExactly(taken(lease));
  }

  @Test
  void recordThatExistsAfterAnAttemptWithoutAnswerIsLookedFor() {
    // Given
    LeaseId lease = new LeaseId(1, 2);
    commit.add(record(lease));
    commit.open();
    failWhole(Code.CONNECTIONLOSS);
    commit.open();
    // When
    fail(1, Code.NODEEXISTS);
    // Then
    assertThat(events).isEmpty();
    LeaseRecording looked = (LeaseRecording) commit.inDoubt().get(0);
    assertThat(looked.isTaken()).isTrue();
    commit.foundBroken(looked, "", 0);
    assertThat(events).containsExactly(taken(lease));
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, 0, 86_400_001, Long.MAX_VALUE})
  void recordWithATtlThatNoLeaseHasIsNone(long ttlMillis) {
    // When
    String record = "{\"format\":1,\"ttlMillis\":" + ttlMillis + "}";
    // Then
    assertThat(LeaseRecording.read(new LeaseId(1, 2), record.getBytes(StandardCharsets.UTF_8)))
        .isEmpty();
  }

  private static StoreEvent taken(LeaseId lease) {
    return new StoreEvent.LeaseRefused(
        SESSION, lease, "another coordinator serves this lease", true);
  }
}
