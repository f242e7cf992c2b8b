package io.lockkeeper.server.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.rpc.call.ConnectionAge.AgedConnection;
import io.lockkeeper.server.rpc.wire.Refusal;
import java.util.Optional;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class OpenStreamsTest {

  /** Does at once what is due. */
  private static final class Prompt extends ScheduledThreadPoolExecutor {
    Prompt() {
      super(1);
      setRemoveOnCancelPolicy(true);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
      if (delay == 0) {
        task.run();
      }
      return super.schedule(() -> {}, 1, TimeUnit.DAYS);
    }
  }

  @AutoClose("shutdownNow")
  private final ScheduledThreadPoolExecutor timer = new Prompt();

  private final OpenStreams streams = new OpenStreams(timer);

  @Test
  void streamThatLeavesAsItComesIsForgotten() {
    // Given: its token has expired since it was looked at
    long past = System.nanoTime() - 1;
    OpenStreams.Leavable stream =
        new OpenStreams.Leavable() {
          @Override
          public void goAway(Refusal why) {
            streams.remove(this);
          }
        };
    // When
    streams.add(stream, Optional.of(new AgedConnection(past, past)), true);
    // Then
    assertThat(streams.size()).isZero();
    assertThat(timer.getQueue()).isEmpty();
  }
}
