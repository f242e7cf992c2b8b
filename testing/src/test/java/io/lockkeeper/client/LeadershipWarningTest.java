package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.testing.InMemoryLockkeeper;
import io.lockkeeper.testing.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** A leader that is cut off hears of it in time. */
class LeadershipWarningTest {

  @Test
  void leaderThatIsCutOffIsWarnedAndThenToldBeforeAnotherLeads() {
    // Given
    ManualClock clock = new ManualClock();
    List<String> told = new CopyOnWriteArrayList<>();
    LeadershipListener listener =
        new LeadershipListener() {
          @Override
          public void onAboutToLose(Leadership leadership, Duration remaining) {
            told.add("about to lose, valid " + leadership.isValid());
          }

          @Override
          public void onSafe(Leadership leadership) {
            told.add("safe");
          }

          @Override
          public void onLost(Leadership leadership, LossReason reason) {
            told.add("lost " + reason);
          }
        };
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start(clock);
        LockkeeperClient client = server.clientBuilder().callbackExecutor(Runnable::run).build()) {
      CompletableFuture<Leadership> elected =
          client.asElection("leader").campaignAsync("one", listener);
      clock.settle();
      server.jeopardy();
      server.safe();
      clock.settle();
      server.whenFree("leader", () -> told.add("free"));
      // When
      server.freeze();
      clock.advance(Duration.ofMinutes(1));
      // Then
      assertThat(elected.join().isValid()).isFalse();
      assertThat(told)
          .containsExactly(
              "about to lose, valid true",
              "safe",
              "about to lose, valid true",
              "lost DEADLINE_PASSED",
              "free");
    }
  }
}
