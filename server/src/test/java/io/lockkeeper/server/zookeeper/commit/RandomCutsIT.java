package io.lockkeeper.server.zookeeper.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import io.lockkeeper.server.testing.ZooKeeperProxy.Action;
import io.lockkeeper.server.zookeeper.Asked;
import io.lockkeeper.server.zookeeper.Ensemble;
import io.lockkeeper.server.zookeeper.ZooKeeperLockStore;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connections that break at random writes, of several sessions at once. */
final class RandomCutsIT {

  private final RecordedEvents events = new RecordedEvents();
  @AutoClose private final Ensemble ensemble = Ensemble.shared();
  private final ZooKeeperProxy proxy = ensemble.proxy();
  private final ZooKeeper truth = ensemble.client();
  private final ZooKeeperLockStore store = ensemble.store(proxy.connectString(), "c1", events);

  @BeforeEach
  void awaitCurrent() {
    events.awaitCurrent();
  }

  @Test
  void neverMakeTwoEntriesOfOneRequestNorLoseOne() throws Exception {
    // Given
    long seed = new Random().nextLong();
    System.out.println("RandomCutsIT seed " + seed);
    Random random = new Random(seed);
    List<SessionKey> sessions = new ArrayList<>();
    for (int i = 1; i <= 8; i++) {
      sessions.add(Asked.open(store, events, i));
    }
    for (int i = 0; i < 40; i++) {
      Action action = random.nextBoolean() ? Action.CUT_BEFORE : Action.CUT_AFTER;
      proxy.at(
          1 + random.nextInt(250),
          r -> r.isMultiWith(OpCode.create, OpCode.create2, OpCode.delete),
          action);
    }
    // When
    Set<UUID> kept = new HashSet<>();
    int deletions = 0;
    for (int i = 0; i < 300; i++) {
      SessionKey session = sessions.get(random.nextInt(sessions.size()));
      UUID id = Asked.create(store, session, "hot/" + random.nextInt(5));
      EntriesCreated created = i % 3 == 0 ? Asked.created(events, id) : null;
      if (created != null && random.nextBoolean()) {
        Asked.delete(store, session, created);
        deletions++;
      } else {
        kept.add(id);
      }
    }
    Asked.awaitCreated(events, 300);
    Asked.awaitDeleted(events, deletions);
    // Then
    List<EntriesCreated> answers = events.all(EntriesCreated.class);
    assertThat(answers).extracting(EntriesCreated::id).doesNotHaveDuplicates().hasSize(300);
    Set<String> expected = new TreeSet<>();
    for (EntriesCreated answer : answers) {
      CreatedEntry entry = answer.entries().get(0);
      if (kept.contains(answer.id())) {
        expected.add(entry.lock().encoded() + "/" + entry.name());
        String path = "/lk/locks/" + entry.lock().encoded() + "/" + entry.name();
        assertThat(truth.exists(path, false).getCzxid()).as(path).isEqualTo(entry.czxid());
      }
    }
    Set<String> found = new TreeSet<>();
    Ensemble.truth(truth)
        .forEach((lock, entries) -> entries.forEach(entry -> found.add(lock + "/" + entry)));
    assertThat(found).isEqualTo(expected);
    assertThat(store.stats().get("writes_in_doubt")).isPositive();
    assertThat(tokensOf(answers)).doesNotHaveDuplicates();
  }

  private static List<String> tokensOf(List<EntriesCreated> answers) {
    List<String> tokens = new ArrayList<>();
    for (EntriesCreated answer : answers) {
      CreatedEntry entry = answer.entries().get(0);
      LockName lock = entry.lock();
      tokens.add(lock + " " + entry.czxid() + " " + entry.index());
    }
    return tokens;
  }
}
