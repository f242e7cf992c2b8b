package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.LockStoreShardsContract;
import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.core.api.ShardEvent;
import io.lockkeeper.server.zookeeper.record.ShardsData;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract on a real ZooKeeper, and what others may find or leave there. */
@Tag("smoke")
final class ZooKeeperLockStoreShardsIT extends LockStoreShardsContract {

  private static final String PATH = "/lk/shards";
  @AutoClose private static final Ensemble ensemble = Ensemble.shared();
  private static final ZooKeeper raw = ensemble.client();

  @AutoClose("stop")
  private final ZooKeeperLockStore store = ensemble.store(events);

  @Override
  protected LockStore store() {
    return store;
  }

  @BeforeEach
  void noTable() throws KeeperException, InterruptedException {
    events.awaitCurrent();
    raw.setData(PATH, new byte[0], -1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rubbish", "[1]", "{\"format\":99}", "{\"format\":1,\"version\":3}"})
  void tableThatNobodyCanReadIsToldToBeUnreadable(String data)
      throws KeeperException, InterruptedException {
    // When
    raw.setData(PATH, data.getBytes(StandardCharsets.UTF_8), -1);
    // Then
    events.await(ShardEvent.Read.class, read -> read.record().isEmpty());
  }

  @Test
  void storeThatStartsIsToldTheTableBeforeItsMirrorIsCurrent()
      throws KeeperException, InterruptedException {
    // Given
    raw.setData(PATH, ShardsData.write(record(7)), -1);
    RecordedEvents later = new RecordedEvents();
    // When
    ZooKeeperLockStore another = ensemble.store(later);
    try {
      later.awaitCurrent();
      // Then
      assertThat(later.all(ShardEvent.Read.class))
          .extracting(ShardEvent.Read::record)
          .contains(Optional.of(record(7)));
    } finally {
      another.stop();
    }
  }

  @Test
  void nodeThatIsDeletedIsMadeAgainAndTellsThatThereIsNoTable()
      throws KeeperException, InterruptedException {
    // Given
    raw.setData(PATH, ShardsData.write(record(3)), -1);
    events.await(ShardEvent.Read.class, read -> read.record().equals(Optional.of(record(3))));
    int before = events.all(ShardEvent.Read.class).size();
    // When
    raw.delete(PATH, -1);
    // Then
    org.awaitility.Awaitility.await()
        .until(() -> events.all(ShardEvent.Read.class).size() > before);
    assertThat(raw.exists(PATH, false)).isNotNull();
  }
}
