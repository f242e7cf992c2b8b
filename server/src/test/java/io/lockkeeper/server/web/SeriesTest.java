package io.lockkeeper.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.LockName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** How many series there are is ours to say, and not that of clients who name things. */
class SeriesTest {

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final EventCounters counters = new EventCounters(registry);

  private List<Meter.Id> series() {
    return registry.getMeters().stream().map(Meter::getId).toList();
  }

  private Set<String> namespaces() {
    return registry.find("lockkeeper.wait").timers().stream()
        .map(timer -> String.valueOf(timer.getId().getTag("namespace")))
        .collect(Collectors.toSet());
  }

  private void happens(String lock, String words) {
    LockName name = new LockName(lock);
    counters.onOccurrence(Occurrences.granted(1, 1, lock));
    counters.onOccurrence(
        Occurrences.of(new Notice.ReleaseRequested(name, words, words, Optional.empty()), lock));
    counters.onOccurrence(
        Occurrences.ended(
            new Notice.Lost(Notice.LossReason.REMOVED, words), HoldEnd.LOST, 1, lock));
    counters.onOccurrence(
        Occurrences.of(new Notice.NotAcquired(Notice.RefusalReason.TIMED_OUT, words), lock));
  }

  @Test
  void namesAndWordsOfClientsMakeNoSeries() {
    // Given
    happens("shop/0", "first");
    happens("flat", "first");
    List<Meter.Id> before = series();
    // When
    for (int i = 0; i < 1_000; i++) {
      happens("shop/" + i, "why-" + i);
      happens("lock-" + i, "why-" + i);
    }
    // Then
    assertThat(series()).containsExactlyInAnyOrderElementsOf(before);
  }

  @Test
  void onlySoManyNamespacesHaveSeriesOfTheirOwn() {
    // When
    for (int i = 0; i < 1_000; i++) {
      happens("namespace-" + i + "/lock", "");
    }
    // Then
    assertThat(namespaces())
        .hasSize(NamespaceTimes.MAX_NAMESPACES + 1)
        .contains("namespace-0", "namespace-49", NamespaceTimes.OTHER);
  }

  @Test
  void namespaceWithALongNameHasNoSeriesOfItsOwn() {
    // When
    happens("x".repeat(NamespaceTimes.MAX_CHARS + 1) + "/lock", "");
    // Then
    assertThat(namespaces()).containsExactly(NamespaceTimes.OTHER);
  }
}
