package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.api.StoreEvent.EntryAppeared;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.SessionKey;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tokens under random batches of random requests, several of one lock in one transaction. */
final class TokensIT {

  private static final int LOCKS = 6;
  private static final int REQUESTS = 1_500;

  @AutoClose private final Ensemble ensemble = Ensemble.shared();
  private final RecordedEvents events = new RecordedEvents();

  private record Asker(ZooKeeperLockStore store, RecordedEvents events, SessionKey session) {}

  private static List<PlannedEntry> someLocks(Random random) {
    List<Integer> locks = new ArrayList<>(IntStream.range(0, LOCKS).boxed().toList());
    Collections.shuffle(locks, random);
    return locks.subList(0, 1 + random.nextInt(4)).stream()
        .map(i -> Asked.planned(new LockName("l/" + i)))
        .toList();
  }

  @Test
  void tokensOfALockRiseStrictlyWithItsQueueWhateverTheBatches() throws Exception {
    // Given
    long seed = new Random().nextLong();
    System.out.println("TokensIT seed " + seed);
    Random random = new Random(seed);
    List<Asker> askers = new ArrayList<>();
    for (String id : List.of("c1", "c2")) {
      RecordedEvents heard = id.equals("c1") ? events : new RecordedEvents();
      ZooKeeperLockStore store = ensemble.store(id, heard);
      for (int key = 1; key <= 2; key++) {
        askers.add(new Asker(store, heard, Asked.open(store, heard, key)));
      }
    }
    events.awaitCurrent();
    // When
    int sent = 0;
    while (sent < REQUESTS) {
      Asker asker = askers.get(random.nextInt(askers.size()));
      for (int burst = random.nextInt(40); burst >= 0; burst--) {
        List<PlannedEntry> locks = someLocks(random);
        asker
            .store()
            .createEntries(
                new StoreEffect.CreateEntries(
                    asker.session(), UUID.randomUUID(), locks, Asked.DETAILS, random.nextInt(2)));
        sent++;
      }
    }
    int expected = sent;
    Awaitility.await("all answered").until(() -> answers(askers).size() == expected);
    // Then
    Map<LockName, List<CreatedEntry>> queues = queues(answers(askers));
    long appeared = queues.values().stream().mapToLong(List::size).sum();
    Awaitility.await("all seen").until(() -> events.all(EntryAppeared.class).size() == appeared);
    queues.forEach(this::assertTokensRise);
    assertThat(queues.values().stream().flatMap(List::stream))
        .as("some share a transaction in their lock")
        .anyMatch(entry -> entry.index() > 0);
  }

  private static List<EntriesCreated> answers(List<Asker> askers) {
    return askers.stream()
        .map(Asker::events)
        .distinct()
        .flatMap(heard -> heard.all(EntriesCreated.class).stream())
        .toList();
  }

  private static Map<LockName, List<CreatedEntry>> queues(List<EntriesCreated> answers) {
    Map<LockName, List<CreatedEntry>> queues = new HashMap<>();
    for (EntriesCreated answer : answers) {
      for (CreatedEntry entry : answer.entries()) {
        queues.computeIfAbsent(entry.lock(), lock -> new ArrayList<>()).add(entry);
      }
    }
    queues
        .values()
        .forEach(queue -> queue.sort(Comparator.comparingInt(entry -> entry.name().sequence())));
    return queues;
  }

  private void assertTokensRise(LockName lock, List<CreatedEntry> queue) {
    List<Long> tokens =
        queue.stream().map(e -> FencingToken.of(e.czxid(), e.index()).value()).toList();
    assertThat(tokens).as("tokens of %s", lock).isSorted().doesNotHaveDuplicates();
    // The mirror hears of them in the same order.
    assertThat(events.all(EntryAppeared.class))
        .filteredOn(appeared -> appeared.lock().equals(lock))
        .extracting(appeared -> appeared.entry().text())
        .isEqualTo(queue.stream().map(entry -> entry.name().text()).toList());
  }
}
