package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PermitsKind;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import io.lockkeeper.server.core.simulation.Wish;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Requests for several locks, in whatever order they name them and whatever modes they want, never
 * block one another for ever.
 */
class SeveralLocksPropertyTest {

  private static final int RUNS = 400;
  private static final int LOCKS = 6;
  private static final int REQUESTS = 24;
  private static final int LIMIT = 3;

  @Test
  void whoeverReleasesLastLeavesNobodyWaiting() {
    for (long seed = 1; seed <= RUNS; seed++) {
      play(new Random(seed * 0x9E3779B97F4A7C15L), seed);
    }
  }

  private static void play(Random random, long seed) {
    // Given: requests of random locks, queued one transaction after the other
    Bench bench = Bench.ready();
    List<Asked> waiting = new ArrayList<>();
    for (int i = 0; i < REQUESTS; i++) {
      waiting.add(bench.alone(wish(random, "r" + i)));
    }
    // When: those who hold release, in any order
    List<Asked> holding = new ArrayList<>();
    while (!waiting.isEmpty() || !holding.isEmpty()) {
      for (Asked asked : List.copyOf(waiting)) {
        if (bench.wasGranted(asked)) {
          waiting.remove(asked);
          holding.add(asked);
        }
      }
      // Then: somebody always holds
      assertThat(holding).as("seed %d: %d wait for one another", seed, waiting.size()).isNotEmpty();
      Asked done = holding.remove(random.nextInt(holding.size()));
      bench.release(done);
      bench.deleteAll(done);
    }
  }

  private static Wish wish(Random random, String requestId) {
    List<Integer> locks = new ArrayList<>();
    for (int lock = 0; lock < LOCKS; lock++) {
      locks.add(lock);
    }
    Collections.shuffle(locks, random);
    Wish wish = Wish.named(requestId);
    for (int lock : locks.subList(0, 1 + random.nextInt(4))) {
      wish.lock("l" + lock, mode(random, lock));
    }
    return wish;
  }

  /** Each lock is of one kind. */
  private static Mode mode(Random random, int lock) {
    return switch (lock % 3) {
      case 0 -> MutexKind.EXCLUSIVE;
      case 1 -> random.nextBoolean() ? ReadWriteKind.READ : ReadWriteKind.WRITE;
      default -> new PermitsKind.Permits(1 + random.nextInt(LIMIT), LIMIT);
    };
  }
}
