package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LeaseName;
import io.lockkeeper.server.core.simulation.Wish;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An operator closes somebody's lease. */
class ForcedLeaseTest {

  private final Bench bench = Bench.ready();

  private CallId close(LeaseName lease) {
    CallId call = bench.call();
    bench.on(new ClientEvent.ForceCloseLease(call, lease, "stuck"));
    return call;
  }

  private static LeaseName named(LeaseId lease, boolean byTag) {
    return byTag ? new LeaseName.ByTag(lease.tag()) : new LeaseName.ById(lease);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatItHoldsIsLostWhatWaitsIsRefusedAndItsClientHearsWhy(boolean byTag) {
    // Given
    LeaseId lease = bench.lease();
    StreamId stream = bench.attach(lease);
    Asked held = bench.askAndCreate(lease, Wish.named("held").exclusive("a"));
    Asked next = bench.alone(Wish.named("next").exclusive("a"));
    bench.alone(Wish.named("other").exclusive("b"));
    Asked waits = bench.askAndCreate(lease, Wish.named("waits").exclusive("b"));
    // When
    CallId call = close(named(lease, byTag));
    // Then
    String why = "an operator closed the lease: stuck";
    assertThat(bench.told(held, Notice.Lost.class))
        .containsExactly(new Notice.Lost(Notice.LossReason.FORCED, why));
    assertThat(bench.ending(waits).message()).isEqualTo(why);
    assertThat(bench.all(Effect.TellLeaseEnd.class))
        .containsExactly(new Effect.TellLeaseEnd(stream, LeaseEnd.FORCED, why));
    assertThat(bench.answers(call)).isEmpty();
    // When: all of it is gone
    bench.deleteAll(held);
    bench.deleteAll(waits);
    bench.erased(lease);
    // Then
    assertThat(bench.answer(call)).isEqualTo(new Answer.LeaseClosed(false));
    assertThat(bench.granted(next).grants().get(0).previous()).contains(HoldEnd.FORCED);
  }

  @Test
  void leaseThatHasEndedIsKnownByItsIdForAWhileAndNotByItsTag() {
    // Given
    LeaseId lease = bench.lease();
    close(new LeaseName.ById(lease));
    bench.erased(lease);
    // When
    CallId byId = close(new LeaseName.ById(lease));
    CallId byTag = close(new LeaseName.ByTag(lease.tag()));
    // Then
    assertThat(bench.answer(byId)).isEqualTo(new Answer.LeaseClosed(true));
    assertThat(bench.failure(byTag)).isEqualTo(Failure.Reason.UNKNOWN_LEASE);
  }

  @Test
  void keepAliveOfALeaseThatWasClosedByForceSaysSo() {
    // Given
    LeaseId lease = bench.lease();
    close(new LeaseName.ById(lease));
    bench.erased(lease);
    CallId keepAlive = bench.call();
    // When
    bench.on(new ClientEvent.KeepAlive(keepAlive, lease));
    // Then
    assertThat(bench.answer(keepAlive)).isEqualTo(new Answer.LeaseGone(LeaseEnd.FORCED));
  }
}
