package io.lockkeeper.server.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

final class SteadyTimerTest {

  @AutoClose("shutdownNow")
  private final ScheduledThreadPoolExecutor timer = new SteadyTimer(Thread::new);

  @Test
  void periodicTaskThatThrowsComesAgain() throws InterruptedException {
    // Given
    CountDownLatch runs = new CountDownLatch(3);
    Runnable broken =
        () -> {
          runs.countDown();
          throw new AssertionError("a bug");
        };
    // When
    var unused = timer.scheduleWithFixedDelay(broken, 1, 1, TimeUnit.MILLISECONDS);
    // Then
    assertThat(runs.await(60, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void taskThatComesAfterTheEndIsDropped() {
    // Given
    timer.shutdownNow();
    // When
    var late = timer.schedule(() -> {}, 1, TimeUnit.MILLISECONDS);
    // Then
    assertThat(late.isDone()).isFalse();
    assertThat(timer.getQueue()).isEmpty();
  }
}
