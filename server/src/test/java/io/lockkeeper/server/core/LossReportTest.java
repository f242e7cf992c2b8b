package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is counted, and said in the log, of what is lost with a session. */
class LossReportTest {

  private static final Duration TICK = Bench.settings().tick();
  private static final Duration BOUND = Bench.TIMEOUT.minus(TICK.dividedBy(2));
  private static final Notice LOST = new Notice.Lost(Notice.LossReason.SESSION_LOST, "");

  private final Bench bench = Bench.ready();
  private final LeaseId lease = bench.lease(Duration.ofHours(1));

  private void hold(String requestId, String... locks) {
    bench.askAndCreate(lease, Wish.named(requestId).exclusive(locks));
  }

  private List<Notice> endings() {
    return bench.all(Effect.Count.class).stream()
        .map(count -> count.occurrence().notice())
        .filter(Notice::isFinal)
        .toList();
  }

  private List<Effect.ReportLosses> reports() {
    return bench.all(Effect.ReportLosses.class);
  }

  private static Effect.ReportLosses report(SessionKey session, String... locks) {
    return new Effect.ReportLosses(session, List.of(locks).stream().map(LockName::new).toList());
  }

  @Test
  void everyHoldOnASessionWhoseBoundIsLostIsCountedAndSaidOnce() {
    // Given
    bench.proving = false;
    hold("r1", "a");
    hold("r2", "b");
    // When
    bench.pass(Bench.TIMEOUT);
    bench.on(new SessionEvent.SessionEnded(Bench.S1, false));
    // Then
    assertThat(endings()).containsOnly(LOST).hasSize(2);
    assertThat(reports()).containsExactly(report(Bench.S1, "a", "b"));
  }

  @Test
  void everyHoldOnASessionThatZooKeeperSaysIsGoneIsCountedAndSaidOnce() {
    // Given: two locks are one acquisition
    hold("r1", "a", "b");
    hold("r2", "c");
    // When
    bench.on(new SessionEvent.SessionEnded(Bench.S1, false));
    // Then
    assertThat(endings()).containsOnly(LOST).hasSize(2);
    assertThat(reports()).containsExactly(report(Bench.S1, "a", "b", "c"));
  }

  @Test
  void whatAClientGivesUpAMomentBeforeTheBoundIsLostWithTheSession() {
    // Given
    bench.proving = false;
    hold("r1", "a");
    // When: it counts from when it has asked, and so is done first
    bench.pass(BOUND.minusNanos(1));
    bench.on(new ClientEvent.CloseLease(bench.call(), lease));
    // Then
    assertThat(endings()).containsExactly(LOST);
    assertThat(reports()).isEmpty();
    bench.pass(Duration.ofNanos(1));
    assertThat(reports()).containsExactly(report(Bench.S1, "a"));
  }

  @Test
  void whatWasGivenUpIsSaidAlsoWhereTheSessionIsProvedAtTheLastMoment() {
    // Given
    bench.proving = false;
    hold("r1", "a");
    bench.pass(BOUND.minusNanos(1));
    bench.on(new ClientEvent.CloseLease(bench.call(), lease));
    // When
    bench.on(new SessionEvent.SessionProved(Bench.S1, bench.now, bench.now));
    // Then
    assertThat(reports()).containsExactly(report(Bench.S1, "a"));
  }

  @Test
  void leaseThatIsClosedEarlierInAnOutageIsClosedAndNotLost() {
    // Given
    bench.proving = false;
    hold("r1", "a");
    // When
    bench.pass(BOUND.minus(TICK));
    bench.on(new ClientEvent.CloseLease(bench.call(), lease));
    bench.pass(Bench.TIMEOUT);
    // Then
    assertThat(endings()).containsExactly(new Notice.Lost(Notice.LossReason.LEASE_CLOSED, ""));
    assertThat(reports()).isEmpty();
  }

  @Test
  void whatWasAdoptedAndIsHeldIsLostThoughItsClientHasNotCome() {
    // Given
    Inheritance left = new Inheritance(bench);
    left.entries(left.lease(), Wish.named("held").exclusive("a"));
    left.entries(left.lease(), Wish.named("waits").exclusive("a"));
    SessionKey adopted = left.take();
    // When
    bench.on(new SessionEvent.SessionEnded(adopted, false));
    // Then
    assertThat(endings())
        .hasSize(2)
        .contains(LOST)
        .hasAtLeastOneElementOfType(Notice.NotAcquired.class);
    assertThat(reports()).containsExactly(report(adopted, "a"));
  }
}
