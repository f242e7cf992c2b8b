package io.lockkeeper.client.internal.telemetry;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LossReason;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Optional;

/**
 * Counts and times in a registry of Micrometer. No lock's name is a tag: there may be any number.
 *
 * @param registry where the meters are
 */
public record Meters(MeterRegistry registry) implements Observer {

  private static final String ACQUIRE = "lockkeeper.client.acquire";
  private static final String HELD = "lockkeeper.client.held";
  private static final String LOST = "lockkeeper.client.lost";

  @Override
  public ObservedRequest onRequested(LockRequest request) {
    return new Timed(Timer.start(registry));
  }

  private final class Timed implements ObservedRequest {
    private Timer.Sample sample;

    Timed(Timer.Sample sample) {
      this.sample = sample;
    }

    @Override
    public void onGranted(LockHandle handle) {
      sample.stop(registry.timer(ACQUIRE, "outcome", Outcome.ACQUIRED.tag()));
      sample = Timer.start(registry);
    }

    @Override
    public void onNotGranted(Outcome outcome, Throwable why) {
      sample.stop(registry.timer(ACQUIRE, "outcome", outcome.tag()));
    }

    @Override
    public void onEnded(Optional<LossReason> lost) {
      sample.stop(registry.timer(HELD, "end", lost.isPresent() ? "lost" : "released"));
      lost.ifPresent(reason -> registry.counter(LOST, "reason", Outcome.tag(reason)).increment());
    }
  }
}
