package io.lockkeeper.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.testing.ViewSamples;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EventCountersTest {

  private static final String LOCK = "shop/42";

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final EventCounters counters = new EventCounters(registry);

  private double losses(String reason) {
    return registry.get("lockkeeper.losses").tag("reason", reason).counter().count();
  }

  private double notAcquired(String reason) {
    return registry.get("lockkeeper.not.acquired").tag("reason", reason).counter().count();
  }

  private double releases(String how) {
    return registry.get("lockkeeper.releases").tag("how", how).counter().count();
  }

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
            new Notice.Contended(ViewSamples.LOCK, 1, Optional.empty()),
            new Notice.Released());
    // When
    notices.forEach(notice -> counters.onOccurrence(Occurrences.of(notice, LOCK)));
    // Then
    assertThat(losses("session_lost")).isEqualTo(2);
    assertThat(losses("removed")).isZero();
    assertThat(losses("max_hold")).isEqualTo(1);
    assertThat(notAcquired("timed_out")).isEqualTo(1);
    assertThat(notAcquired("would_deadlock")).isEqualTo(1);
    assertThat(registry.get("lockkeeper.release.requests").counter().count()).isEqualTo(1);
    assertThat(registry.get("lockkeeper.contentions").counter().count()).isEqualTo(1);
    assertThat(releases("released")).isEqualTo(1);
  }

  @Test
  void whatAClientGivesUpByItsOwnDecisionIsNoLoss() {
    // When
    counters.onOccurrence(Occurrences.ended(new Notice.Released(), HoldEnd.CANCELLED, 1, LOCK));
    counters.onOccurrence(
        Occurrences.of(new Notice.Lost(Notice.LossReason.LEASE_CLOSED, ""), LOCK));
    // Then
    assertThat(releases("cancelled")).isEqualTo(1);
    assertThat(releases("lease_closed")).isEqualTo(1);
    assertThat(registry.get("lockkeeper.losses").counters())
        .allSatisfy(counter -> assertThat(counter.count()).isZero());
  }

  @Test
  void everyLossSaysByWhoseDoing() {
    assertThat(registry.get("lockkeeper.losses").counters())
        .extracting(
            counter -> counter.getId().getTag("reason") + " " + counter.getId().getTag("by"))
        .containsExactlyInAnyOrder(
            "session_lost service",
            "lease_expired client",
            "stream_broken client",
            "coordinator_left operator",
            "removed operator",
            "forced operator",
            "max_hold limit");
  }

  @Test
  void waitsAndHoldsAreTimedByNamespaceAndByHowTheyEnded() {
    // When
    counters.onOccurrence(Occurrences.granted(2_000_000_000L, 3_000_000L, LOCK));
    counters.onOccurrence(
        Occurrences.ended(new Notice.Released(), HoldEnd.RELEASED, 5_000_000_000L, LOCK));
    counters.onOccurrence(
        Occurrences.ended(
            new Notice.Lost(Notice.LossReason.REMOVED, ""), HoldEnd.LOST, 7_000_000_000L, LOCK));
    // Then
    assertThat(
            registry
                .get("lockkeeper.wait")
                .tags("namespace", "shop", "outcome", "granted")
                .timer()
                .totalTime(TimeUnit.SECONDS))
        .isEqualTo(2.0);
    assertThat(registry.get("lockkeeper.hand.off").timer().totalTime(TimeUnit.MILLISECONDS))
        .isEqualTo(3.0);
    assertThat(
            registry
                .get("lockkeeper.hold")
                .tags("namespace", "shop", "end", "given_up")
                .timer()
                .totalTime(TimeUnit.SECONDS))
        .isEqualTo(5.0);
    assertThat(
            registry
                .get("lockkeeper.hold")
                .tags("namespace", "shop", "end", "lost")
                .timer()
                .totalTime(TimeUnit.SECONDS))
        .isEqualTo(7.0);
  }

  @Test
  void stallsAreTimed() {
    // When
    counters.onStalled(2_000_000_000L);
    // Then
    assertThat(registry.get("lockkeeper.stalls").timer().totalTime(TimeUnit.SECONDS))
        .isEqualTo(2.0);
  }
}
