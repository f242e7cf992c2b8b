package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LockName;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Token checks, and the barriers that they wait for. */
class TokenChecksTest {

  private static final LockName A = new LockName("a");
  private static final EntryName FOREIGN = EntryName.parse("lock-0000000000").orElseThrow();

  private final Bench bench = Bench.ready();

  @Test
  void holdersTokenIsCurrentAfterABarrierAndNoOtherIs() {
    // Given
    Asked held = bench.acquire("a");
    StoreEvent.CreatedEntry entry = bench.create(held);
    long token = FencingToken.of(entry.czxid(), 0).value();
    CallId good = check(token);
    CallId bad = check(token - 1);
    assertThat(bench.answers(good)).isEmpty();
    // When: one barrier at a time; who asks meanwhile shares the next
    pass(1);
    pass(2);
    // Then
    assertThat(((Answer.TokenChecked) bench.answer(good)).current()).isTrue();
    assertThat(bench.answer(bad))
        .isEqualTo(new Answer.TokenChecked(false, List.of(new FencingToken(token))));
    assertThat(bench.all(StoreEffect.Barrier.class)).hasSize(2);
  }

  @Test
  void manyWhoAskAtOnceShareABarrier() {
    check(1);
    for (int i = 0; i < 100; i++) {
      check(i);
    }
    assertThat(bench.all(StoreEffect.Barrier.class)).hasSize(1);
    pass(1);
    assertThat(bench.all(StoreEffect.Barrier.class)).hasSize(2);
    pass(2);
    assertThat(bench.all(Effect.Reply.class)).hasSize(101);
  }

  @Test
  void tokenOfOneWhoHasReleasedIsNotCurrent() {
    Asked held = bench.acquire("a");
    StoreEvent.CreatedEntry entry = bench.create(held);
    CallId call = check(FencingToken.of(entry.czxid(), 0).value());
    bench.release(held);
    pass(1);
    assertThat(bench.answer(call)).isEqualTo(new Answer.TokenChecked(false, List.of()));
  }

  @Test
  void barrierThatFailsOrIsOvertakenByADisconnectionSaysUnavailable() {
    // Given
    CallId failed = check(1);
    bench.on(new StoreEvent.BarrierFailed(1));
    CallId overtaken = check(1);
    bench.on(new StoreEvent.MirrorStale());
    // When
    pass(2);
    CallId stale = check(1);
    // Then
    assertThat(bench.failure(failed)).isEqualTo(Failure.Reason.UNAVAILABLE);
    assertThat(bench.failure(overtaken)).isEqualTo(Failure.Reason.UNAVAILABLE);
    assertThat(bench.failure(stale)).isEqualTo(Failure.Reason.UNAVAILABLE);
  }

  @Test
  void answerToAnOldBarrierIsIgnored() {
    CallId call = check(1);
    pass(7);
    assertThat(bench.answers(call)).isEmpty();
    pass(1);
    pass(1);
    assertThat(bench.answer(call)).isInstanceOf(Answer.TokenChecked.class);
  }

  @Test
  void holderThatIsNotOursIsReadOnceAndThenKnown() {
    // Given
    bench.on(new StoreEvent.EntryAppeared(A, FOREIGN, 0x1_0000_0005L));
    long token = FencingToken.of(0x1_0000_0005L, 0).value();
    CallId call = check(token);
    pass(1);
    assertThat(bench.all(StoreEffect.ReadDetails.class))
        .containsExactly(new StoreEffect.ReadDetails(A, FOREIGN.text()));
    assertThat(bench.answers(call)).isEmpty();
    // When
    bench.on(new StoreEvent.DetailsRead(A, FOREIGN.text(), Optional.of(read())));
    CallId second = check(token);
    pass(2);
    // Then
    assertThat(((Answer.TokenChecked) bench.answer(call)).current()).isTrue();
    assertThat(((Answer.TokenChecked) bench.answer(second)).current()).isTrue();
    assertThat(bench.all(StoreEffect.ReadDetails.class)).hasSize(1);
  }

  @Test
  void holderThatCouldNotBeReadLeavesTheQuestionOpenUnlessItIsGone() {
    // Given
    bench.on(new StoreEvent.EntryAppeared(A, FOREIGN, 0x1_0000_0005L));
    CallId unread = check(5);
    pass(1);
    bench.on(new StoreEvent.DetailsRead(A, FOREIGN.text(), Optional.empty()));
    CallId gone = check(5);
    pass(2);
    // When
    bench.on(new StoreEvent.EntryVanished(A, FOREIGN, 0x1_0000_0009L));
    bench.on(new StoreEvent.DetailsRead(A, FOREIGN.text(), Optional.empty()));
    // Then
    assertThat(bench.failure(unread)).isEqualTo(Failure.Reason.UNAVAILABLE);
    assertThat(bench.answer(gone)).isEqualTo(new Answer.TokenChecked(false, List.of()));
  }

  @Test
  void lockThatNobodyUsesHasNoCurrentToken() {
    bench.on(new StoreEvent.RebuildStarted(Set.of()));
    CallId call = check(1);
    pass(1);
    assertThat(bench.answer(call)).isEqualTo(new Answer.TokenChecked(false, List.of()));
  }

  private static StoreEvent.ReadEntry read() {
    return new StoreEvent.ReadEntry(
        EntryDetails.foreign("", Optional.empty()), 0x1_0000_0005L, 0, Optional.empty());
  }

  private CallId check(long token) {
    CallId call = bench.call();
    bench.on(new ClientEvent.CheckToken(call, A, token));
    return call;
  }

  private void pass(long barrier) {
    bench.on(new StoreEvent.BarrierPassed(barrier));
  }
}
