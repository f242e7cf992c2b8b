package io.lockkeeper.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.LockName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How many series there are is ours to say, and not that of clients who name things. */
class SeriesTest {

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final EventCounters counters = new EventCounters(registry);

  private List<Meter.Id> series() {
    return registry.getMeters().stream().map(Meter::getId).toList();
  }

  @Test
  void namesAndWordsOfClientsMakeNoSeries() {
    // Given
    List<Meter.Id> before = series();
    // When
    for (int i = 0; i < 1_000; i++) {
      LockName lock = new LockName("lock-" + i);
      counters.onNotice(
          new Notice.ReleaseRequested(lock, "asker-" + i, "why-" + i, Optional.empty()));
      counters.onNotice(new Notice.Lost(Notice.LossReason.REMOVED, "why-" + i));
      counters.onNotice(new Notice.NotAcquired(Notice.RefusalReason.TIMED_OUT, "why-" + i));
    }
    // Then
    assertThat(series()).containsExactlyInAnyOrderElementsOf(before);
  }
}
