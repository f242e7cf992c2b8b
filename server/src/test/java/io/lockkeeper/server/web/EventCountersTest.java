package io.lockkeeper.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.testing.ViewSamples;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class EventCountersTest {

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final EventCounters counters = new EventCounters(registry);

  @Test
  void lossesAndRefusalsAreCountedByTheirReasons() {
    // Given
    List<Notice> notices =
        List.of(
            new Notice.Lost(Notice.LossReason.SESSION_LOST, ""),
            new Notice.Lost(Notice.LossReason.SESSION_LOST, ""),
            new Notice.NotAcquired(Notice.RefusalReason.TIMED_OUT, ""),
            new Notice.NotAcquired(Notice.RefusalReason.WOULD_DEADLOCK, ""),
            new Notice.Lost(Notice.LossReason.MAX_HOLD, ""),
            new Notice.ReleaseRequested(ViewSamples.LOCK, "bob", "", Optional.empty()),
            new Notice.Released());
    // When
    notices.forEach(counters::onNotice);
    // Then
    assertThat(registry.get("lockkeeper.losses").tag("reason", "session_lost").counter().count())
        .isEqualTo(2);
    assertThat(registry.get("lockkeeper.losses").tag("reason", "removed").counter().count())
        .isZero();
    assertThat(registry.get("lockkeeper.not.acquired").tag("reason", "timed_out").counter().count())
        .isEqualTo(1);
    assertThat(registry.get("lockkeeper.losses").tag("reason", "max_hold").counter().count())
        .isEqualTo(1);
    assertThat(
            registry
                .get("lockkeeper.not.acquired")
                .tag("reason", "would_deadlock")
                .counter()
                .count())
        .isEqualTo(1);
    assertThat(registry.get("lockkeeper.release.requests").counter().count()).isEqualTo(1);
    assertThat(registry.get("lockkeeper.releases").counter().count()).isEqualTo(1);
  }

  @Test
  void stallsAreTimed() {
    // When
    counters.onStalled(2_000_000_000L);
    // Then
    assertThat(
            registry
                .get("lockkeeper.stalls")
                .timer()
                .totalTime(java.util.concurrent.TimeUnit.SECONDS))
        .isEqualTo(2.0);
  }
}
