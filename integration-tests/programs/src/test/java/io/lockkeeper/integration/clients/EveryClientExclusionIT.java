package io.lockkeeper.integration.clients;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Cluster;
import io.lockkeeper.integration.failover.Cluster.Plan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The clients of every language on one lock; EXCLUSION_SECONDS says for how long. */
final class EveryClientExclusionIT {

  private static final String LOCK = "every/one";
  private static final Duration TTL = Duration.ofSeconds(15);
  private static final Duration LENGTH =
      Duration.ofSeconds(Long.parseLong(System.getenv().getOrDefault("EXCLUSION_SECONDS", "5")));

  @RegisterExtension private static final Cluster cluster = Cluster.shared(Plan.quick(2));

  /** Who holds, as far as the test was told: from a grant's report until a release is sent. */
  private final AtomicReference<Optional<Language>> holder =
      new AtomicReference<>(Optional.empty());

  private final List<Long> tokens = Collections.synchronizedList(new ArrayList<>());
  private final List<String> violations = Collections.synchronizedList(new ArrayList<>());
  private final Map<Language, Integer> turns = Collections.synchronizedMap(new TreeMap<>());

  @Test
  void clientsOfAllLanguagesExcludeEachOtherOnOneLock() {
    try (ClientCrew crew = ClientCrew.start(cluster, LOCK, TTL)) {
      // When
      long endNanos = System.nanoTime() + LENGTH.toNanos();
      List<CompletableFuture<Void>> all =
          crew.clients().stream()
              .map(
                  client ->
                      CompletableFuture.runAsync(
                          () -> takeTurns(client, endNanos), EveryClientExclusionIT::start))
              .toList();
      all.forEach(CompletableFuture::join);

      // Then
      System.out.println("turns in " + LENGTH.toSeconds() + " s: " + turns);
      assertThat(violations).isEmpty();
      assertThat(tokens).isSorted().doesNotHaveDuplicates();
      assertThat(turns.keySet()).containsExactlyInAnyOrderElementsOf(Language.ready());
    }
  }

  private static void start(Runnable task) {
    new Thread(task, "every-client").start();
  }

  private void takeTurns(DrivenClient client, long endNanos) {
    for (int turn = 0; System.nanoTime() - endNanos < 0; turn++) {
      String id = "turn-" + turn;
      long token = client.take(id, LOCK);
      Optional<Language> before = holder.getAndSet(Optional.of(client.language()));
      before.ifPresent(
          other ->
              violations.add(client.language() + " was granted " + token + " beside " + other));
      tokens.add(token);
      if (!client.believes(id)) {
        violations.add(client.language() + " does not believe in its grant of " + token);
      }
      turns.merge(client.language(), 1, Integer::sum);
      holder.set(Optional.empty());
      client.release(id);
    }
  }
}
