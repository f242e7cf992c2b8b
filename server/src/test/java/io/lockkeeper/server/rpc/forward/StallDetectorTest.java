package io.lockkeeper.server.rpc.forward;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class StallDetectorTest {

  private final AtomicLong clock = new AtomicLong();
  private final Queue<Runnable> threads = new ArrayDeque<>();
  private final StallDetector stallDetector = new StallDetector(clock::get);

  private void pass(int quarters) {
    for (int i = 0; i < quarters; i++) {
      clock.addAndGet(Duration.ofMillis(250).toNanos());
      stallDetector.beatOn(threads::add);
    }
  }

  private void run() {
    while (!threads.isEmpty()) {
      threads.remove().run();
    }
  }

  @Test
  void processWhoseThreadsComeToEveryBeatIsSteady() {
    // When
    for (int i = 0; i < 12; i++) {
      pass(1);
      run();
    }
    // Then
    assertThat(stallDetector.isSteadySince(0)).isTrue();
  }

  @Test
  void processWhoseThreadsAreBusyIsNotSteadyThoughItsTimerIs() {
    // When
    pass(12);
    // Then
    assertThat(stallDetector.isSteadySince(0)).isFalse();
  }

  @Test
  void processThatWasBehindIsSteadyOnlySinceThen() {
    // Given
    pass(12);
    assertThat(threads).hasSize(1);
    // When
    run();
    // Then
    assertThat(stallDetector.isSteadySince(0)).isFalse();
    assertThat(stallDetector.isSteadySince(clock.get() + 1)).isTrue();
  }
}
