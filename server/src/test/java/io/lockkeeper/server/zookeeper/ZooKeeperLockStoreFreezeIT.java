package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.lockkeeper.server.coordinator.LockStoreFreezeContract;
import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.lock.Freeze;
import io.lockkeeper.server.zookeeper.client.StoreProblems;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** The contract on a real ZooKeeper, and what others may find or leave there. */
@Tag("smoke")
final class ZooKeeperLockStoreFreezeIT extends LockStoreFreezeContract {

  @AutoClose private static final Ensemble ensemble = Ensemble.shared();
  private static final ZooKeeper raw = ensemble.client();

  @AutoClose("stop")
  private final ZooKeeperLockStore store = ensemble.store(events);

  @Override
  protected LockStore store() {
    return store;
  }

  private static String write(String prefix, String data)
      throws KeeperException, InterruptedException {
    String path = "/lk/freezes/prefix-" + prefix;
    return raw.create(
        path, data.getBytes(StandardCharsets.UTF_8), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "| (cannot be read)",
        "rubbish | (cannot be read)",
        "[1] | (cannot be read)",
        "{\"format\":7,\"reason\":\"x\",\"durationMillis\":1} | (a record of format 7, which this"
            + " version cannot read)",
        "{\"format\":2,\"reason\":\"x\",\"more\":1} | x"
      })
  void prefixIsFrozenWhateverItsRecordSays(String data, String reason)
      throws KeeperException, InterruptedException {
    // Given
    events.awaitCurrent();
    String prefix = "unreadable-" + UUID.randomUUID();
    // When
    write(prefix, data == null ? "" : data);
    // Then
    events.await(FreezeEvent.Appeared.class, appeared -> appeared.prefix().equals(prefix));
    Freeze read =
        events
            .await(FreezeEvent.Read.class, event -> event.freeze().prefix().equals(prefix))
            .freeze();
    assertThat(read.reason()).isEqualTo(reason);
    assertThat(read.duration()).isEmpty();
  }

  @Test
  void storeThatStartsIsToldWhatIsFrozenBeforeItsMirrorIsCurrent()
      throws KeeperException, InterruptedException {
    // Given
    events.awaitCurrent();
    String prefix = "before-" + UUID.randomUUID();
    write(prefix, "{\"format\":1,\"reason\":\"why\"}");
    // When
    RecordedEvents later = new RecordedEvents();
    ZooKeeperLockStore another = ensemble.store(later);
    try {
      later.awaitCurrent();
      // Then
      FreezeEvent.Listed listed = later.await(FreezeEvent.Listed.class);
      assertThat(listed.prefixes()).contains(prefix);
      later.await(FreezeEvent.Read.class, event -> event.freeze().prefix().equals(prefix));
    } finally {
      another.stop();
    }
  }

  @Test
  void nodesThatAreNoneOfOursFreezeNothing() throws KeeperException, InterruptedException {
    // Given
    events.awaitCurrent();
    // When
    raw.create("/lk/freezes/other-x", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    write("%zz", "");
    String known = "known-" + UUID.randomUUID();
    write(known, "{}");
    events.await(FreezeEvent.Appeared.class, appeared -> appeared.prefix().equals(known));
    // Then: what came before it was passed over
    assertThat(events.all(FreezeEvent.Appeared.class))
        .filteredOn(appeared -> appeared.prefix().contains("zz") || appeared.prefix().equals("x"))
        .isEmpty();
  }

  @Test
  void nodeThatIsNoneOfOursIsToldOfOnceWithItsPathByWhoeverFindsIt() throws Exception {
    // Given
    events.awaitCurrent();
    String path = "/lk/freezes/foreign-" + UUID.randomUUID();
    Logger problems = (Logger) LoggerFactory.getLogger(StoreProblems.class);
    ListAppender<ILoggingEvent> logged = new ListAppender<>();
    logged.start();
    problems.addAppender(logged);
    try {
      // When
      raw.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
      raw.setData(path, new byte[1], -1);
      String known = "known-" + UUID.randomUUID();
      write(known, "{}");
      events.await(FreezeEvent.Appeared.class, appeared -> appeared.prefix().equals(known));
      long told = timesTold(logged, path);
      RecordedEvents later = new RecordedEvents();
      ZooKeeperLockStore another = ensemble.store(later);
      later.awaitCurrent();
      another.stop();
      // Then
      assertThat(told).isEqualTo(1);
      assertThat(timesTold(logged, path)).isEqualTo(2);
    } finally {
      problems.detachAppender(logged);
    }
  }

  private static long timesTold(ListAppender<ILoggingEvent> logged, String path) {
    return List.copyOf(logged.list).stream()
        .filter(line -> line.getKeyValuePairs().toString().contains(path))
        .count();
  }
}
