package io.lockkeeper.client.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The queue of timers against a sorted map. */
class TimerQueueTest {

  private static final long SEED = 20_260_101L;

  @Test
  void timersThatWereNotTakenBackAreDoneInOrder() {
    for (long seed = SEED; seed < SEED + 50; seed++) {
      // Given
      SplittableRandom random = new SplittableRandom(seed);
      ManualClock clock = new ManualClock();
      Loop loop = Loop.on(clock, "loop-under-test");
      List<Integer> done = new ArrayList<>();
      TreeMap<Long, Integer> expected = new TreeMap<>();
      List<Loop.Timer> timers = new ArrayList<>();
      List<Long> keys = new ArrayList<>();
      // When
      for (int i = 0; i < 1_000; i++) {
        int number = i;
        long due = random.nextLong(1, 500);
        keys.add(due * 1_000 + i);
        expected.put(due * 1_000 + i, i);
        timers.add(loop.schedule(due, () -> done.add(number)));
        if (random.nextInt(3) > 0) {
          int victim = random.nextInt(timers.size());
          timers.get(victim).cancel();
          expected.remove(keys.get(victim));
        }
      }
      clock.advance(Duration.ofNanos(500));
      loop.stop();
      // Then
      assertThat(done).as("seed %d", seed).containsExactlyElementsOf(expected.values());
    }
  }
}
