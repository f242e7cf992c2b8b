package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.api.TimeEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.simulation.Wish;
import io.lockkeeper.server.core.state.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LeaseLifeTest {

  private final Bench bench = Bench.ready();

  @Test
  void leaseIsOpenWhenItsRecordIsWrittenAndNotBefore() {
    // Given
    CallId call = bench.call();
    LeaseId lease = new LeaseId(7, 8);
    bench.on(new ClientEvent.OpenLease(call, lease, "hash", Bench.TTL, "tester"));
    assertThat(bench.answers(call)).isEmpty();
    assertThat(bench.last(StoreEffect.RecordLease.class))
        .containsExactly(
            new StoreEffect.RecordLease(Bench.S1, lease, 15_000, "tester", "hash", ""));
    // When
    bench.pass(Duration.ofSeconds(1));
    bench.on(new StoreEvent.LeaseRecorded(Bench.S1, lease));
    // Then: valid from the sending of the request
    assertThat(bench.answer(call))
        .isEqualTo(
            new Answer.LeaseOpened(
                lease, Bench.TTL.toNanos(), Duration.ofSeconds(14).toNanos(), 1));
  }

  @Test
  void leaseThatIsOpenedAgainWithItsSecretIsFoundAndRenewed() {
    // Given
    LeaseId lease = new LeaseId(7, 8);
    CallId first = bench.call();
    bench.on(new ClientEvent.OpenLease(first, lease, "hash", Bench.TTL, "tester"));
    CallId early = bench.call();
    bench.on(new ClientEvent.OpenLease(early, lease, "hash", Bench.TTL, "tester"));
    bench.on(new StoreEvent.LeaseRecorded(Bench.S1, lease));
    bench.pass(Duration.ofSeconds(5));
    // When
    CallId again = bench.call();
    bench.on(new ClientEvent.OpenLease(again, lease, "hash", Bench.TTL, "tester"));
    // Then
    assertThat(bench.failure(early)).isEqualTo(Failure.Reason.UNAVAILABLE);
    assertThat(bench.answer(again)).isInstanceOf(Answer.LeaseOpened.class);
    assertThat(bench.all(StoreEffect.RecordLease.class)).hasSize(1);
    // And when it has ended
    CallId close = bench.call();
    bench.on(new ClientEvent.CloseLease(close, lease));
    bench.erased(lease);
    CallId late = bench.call();
    bench.on(new ClientEvent.OpenLease(late, lease, "hash", Bench.TTL, "tester"));
    // Then
    assertThat(bench.failure(late)).isEqualTo(Failure.Reason.SECRET_USED);
  }

  @Test
  void leaseThatAnotherSessionHasIsLookedForThere() {
    // Given
    CallId call = bench.call();
    LeaseId lease = new LeaseId(7, 8);
    bench.on(new ClientEvent.OpenLease(call, lease, "hash", Bench.TTL, "tester"));
    // When
    bench.on(new StoreEvent.LeaseRefused(Bench.S1, lease, "taken", true));
    // Then
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.MOVED);
    assertThat(bench.all(StoreEffect.EraseLease.class)).isEmpty();
    bench.assertNothingIsLeft();
    CallId renewal = bench.call();
    bench.on(new ClientEvent.KeepAlive(renewal, lease));
    assertThat(bench.failure(renewal)).isEqualTo(Failure.Reason.UNKNOWN_LEASE);
  }

  @Test
  void openThatFoundTheLeaseElsewhereEndsNothingOnceItWasAdopted() {
    // Given: a peer serves the lease, and we have been asked to open it
    Inheritance left = new Inheritance(bench);
    LeaseId lease = left.lease();
    CallId call = bench.call();
    bench.on(new ClientEvent.OpenLease(call, lease, "hash", Bench.TTL, "tester"));
    // When: the peer dies, and its lease is ours before our own record is answered
    left.take();
    bench.on(new StoreEvent.LeaseRefused(Bench.S1, lease, "taken", true));
    // Then
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.MOVED);
    assertThat(bench.all(StoreEffect.EraseLease.class)).isEmpty();
    CallId renewal = bench.call();
    bench.on(new ClientEvent.KeepAlive(renewal, lease));
    assertThat(bench.answer(renewal)).isInstanceOf(Answer.LeaseRenewed.class);
  }

  @Test
  void recordIsNotErasedBeforeItIsKnownToBeOurs() {
    // Given
    LeaseId lease = new LeaseId(7, 8);
    bench.on(new ClientEvent.OpenLease(bench.call(), lease, "hash", Bench.TTL, "tester"));
    // When
    bench.pass(Bench.TTL);
    boolean early = !bench.all(StoreEffect.EraseLease.class).isEmpty();
    bench.recorded(lease);
    // Then: it may have been another session's
    assertThat(early).isFalse();
    assertThat(bench.all(StoreEffect.EraseLease.class)).hasSize(1);
  }

  @Test
  void leaseThatTurnsOutToLiveElsewhereIsNotClosedHere() {
    // Given
    LeaseId lease = new LeaseId(7, 8);
    bench.on(new ClientEvent.OpenLease(bench.call(), lease, "hash", Bench.TTL, "tester"));
    CallId close = bench.call();
    bench.on(new ClientEvent.CloseLease(close, lease));
    // When
    bench.on(new StoreEvent.LeaseRefused(Bench.S1, lease, "taken", true));
    // Then: it must be closed where it lives
    assertThat(bench.failure(close)).isEqualTo(Failure.Reason.MOVED);
    bench.assertNothingIsLeft();
  }

  @Test
  void openThatFailedMayBeRepeatedWithItsSecret() {
    // Given
    LeaseId lease = new LeaseId(7, 8);
    bench.on(new ClientEvent.OpenLease(bench.call(), lease, "hash", Bench.TTL, "tester"));
    bench.pass(Bench.TTL);
    // When: nobody was ever told of that lease
    CallId early = bench.call();
    bench.on(new ClientEvent.OpenLease(early, lease, "hash", Bench.TTL, "tester"));
    bench.recorded(lease);
    bench.erased(lease);
    CallId again = bench.call();
    bench.on(new ClientEvent.OpenLease(again, lease, "hash", Bench.TTL, "tester"));
    bench.recorded(lease);
    // Then
    assertThat(bench.failure(early)).isEqualTo(Failure.Reason.UNAVAILABLE);
    assertThat(bench.answer(again)).isInstanceOf(Answer.LeaseOpened.class);
  }

  @Test
  void leaseWhoseRecordIsRefusedIsNotOpen() {
    CallId call = bench.call();
    LeaseId lease = new LeaseId(7, 8);
    bench.on(new ClientEvent.OpenLease(call, lease, "hash", Bench.TTL, "tester"));
    bench.on(new StoreEvent.LeaseRefused(Bench.S1, lease, "no", false));
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.STORE_REFUSED);
    assertThat(bench.all(StoreEffect.EraseLease.class)).isEmpty();
    bench.assertNothingIsLeft();
  }

  @Test
  void leaseThatCannotBeRecordedInItsTimeFailsAndIsErased() {
    // Given
    CallId call = bench.call();
    LeaseId lease = new LeaseId(7, 8);
    bench.on(new ClientEvent.OpenLease(call, lease, "hash", Bench.TTL, "tester"));
    // When
    bench.pass(Bench.TTL);
    bench.on(new StoreEvent.LeaseRecorded(Bench.S1, lease));
    // Then
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.UNAVAILABLE);
    assertThat(bench.all(StoreEffect.EraseLease.class)).hasSize(1);
    bench.erased(lease);
    bench.assertNothingIsLeft();
  }

  @Test
  void leaseLivesAsLongAsItIsRenewed() {
    // Given
    LeaseId lease = bench.lease();
    for (int i = 0; i < 5; i++) {
      bench.pass(Duration.ofSeconds(10));
      // When
      CallId call = keepAlive(lease);
      // Then
      assertThat(bench.validFor(call)).isEqualTo(Bench.TTL.toNanos());
    }
  }

  @Test
  void leaseThatIsNotRenewedEndsWithAllThatItHoldsAndWaitsFor() {
    // Given
    LeaseId lease = bench.lease();
    StreamId stream = bench.attach(lease);
    Asked held = bench.acquireInSession(stream, lease, "held", "a");
    bench.create(held);
    Asked other = bench.acquire("b");
    bench.create(other);
    Asked waiting = bench.acquireInSession(stream, lease, "waiting", "b");
    bench.create(waiting);
    // When
    bench.pass(Bench.TTL);
    // Then
    assertThat(bench.told(held, Notice.Lost.class))
        .containsExactly(new Notice.Lost(Notice.LossReason.LEASE_EXPIRED, ""));
    assertThat(bench.told(waiting, Notice.NotAcquired.class))
        .extracting(Notice.NotAcquired::reason)
        .containsExactly(Notice.RefusalReason.LEASE_ENDED);
    assertThat(bench.all(Effect.TellLeaseEnd.class))
        .containsExactly(new Effect.TellLeaseEnd(stream, LeaseEnd.EXPIRED, ""));
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).hasSize(2);
    assertThat(bench.all(StoreEffect.EraseLease.class)).hasSize(1);
  }

  @Test
  void endedLeaseIsNeverResurrected() {
    // Given: an expired lease, still remembered as such
    LeaseId lease = bench.lease();
    bench.pass(Bench.TTL);
    bench.erased(lease);
    bench.assertNothingIsLeft();
    // When: everything that a client can still send arrives
    CallId keepAlive = keepAlive(lease);
    CallId close = bench.call();
    bench.on(new ClientEvent.CloseLease(close, lease));
    CallId attach = bench.call();
    bench.on(new ClientEvent.AttachLease(attach, lease, "hash", bench.stream()));
    Asked asked = bench.acquire(lease, "late", "a");
    CallId release = bench.release(asked);
    // Then
    assertThat(bench.answer(keepAlive)).isEqualTo(new Answer.LeaseGone(LeaseEnd.EXPIRED));
    assertThat(bench.answer(close)).isEqualTo(new Answer.LeaseClosed(true));
    assertThat(bench.failure(attach)).isEqualTo(Failure.Reason.UNKNOWN_LEASE);
    assertThat(bench.refusals(asked.stream())).containsExactly(Failure.Reason.UNKNOWN_LEASE);
    assertThat(bench.failure(release)).isEqualTo(Failure.Reason.UNKNOWN_LEASE);
    bench.assertNothingIsLeft();
  }

  @Test
  void pauseOfTheCoordinatorCostsNoLease() {
    // Given: keep-alives arrived while the process stood still
    LeaseId lease = bench.lease();
    long pause = Bench.TTL.multipliedBy(3).dividedBy(2).toNanos();
    bench.now += pause;
    // When: one was being handled as the pause began, the others are after it was noticed
    CallId early = keepAlive(lease);
    bench.on(new TimeEvent.Stalled(pause));
    bench.on(new TimeEvent.Tick());
    CallId call = keepAlive(lease);
    // Then
    assertThat(bench.answer(early)).isInstanceOf(Answer.LeaseRenewed.class);
    assertThat(bench.answer(call)).isInstanceOf(Answer.LeaseRenewed.class);
  }

  @Test
  void closeIsAnsweredToEverybodyWhenNothingIsLeft() {
    // Given
    LeaseId lease = bench.lease();
    Asked held = bench.acquire(lease, "r", "a");
    bench.create(held);
    CallId first = bench.call();
    CallId second = bench.call();
    // When
    bench.on(new ClientEvent.CloseLease(first, lease));
    bench.on(new ClientEvent.CloseLease(second, lease));
    bench.erased(lease);
    assertThat(bench.answers(first)).isEmpty();
    bench.deleted(held);
    // Then
    assertThat(bench.answer(first)).isEqualTo(new Answer.LeaseClosed(false));
    assertThat(bench.answer(second)).isEqualTo(new Answer.LeaseClosed(false));
    assertThat(bench.told(held, Notice.Lost.class))
        .containsExactly(new Notice.Lost(Notice.LossReason.LEASE_CLOSED, ""));
    bench.assertNothingIsLeft();
  }

  @Test
  void onlyWhoHasTheSecretMayAttach() {
    LeaseId lease = bench.lease();
    CallId call = bench.call();
    bench.on(new ClientEvent.AttachLease(call, lease, "guess", bench.stream()));
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.WRONG_SECRET);
  }

  @Test
  void leaseThatIsAStreamCannotBeAttachedToWithAnEmptySecret() {
    Asked asked = bench.acquire("a");
    CallId call = bench.call();
    bench.on(new ClientEvent.AttachLease(call, asked.lease(), "", bench.stream()));
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.WRONG_SECRET);
  }

  @Test
  void newStreamOfALeaseIsToldAgainWhereEverythingStands() {
    // Given
    LeaseId lease = bench.lease();
    StreamId first = bench.attach(lease);
    Asked held = bench.acquireInSession(first, lease, "held", "a");
    bench.create(held);
    Asked lost = bench.acquireInSession(first, lease, "lost", "b");
    StoreEvent.CreatedEntry entry = bench.create(lost);
    bench.vanish(entry);
    bench.deleted(lost);
    // When
    StreamId second = bench.attach(lease);
    // Then: the grant and the loss again, with their numbers, and the old stream knows
    assertThat(bench.last(Effect.Supersede.class)).containsExactly(new Effect.Supersede(first));
    assertThat(bench.last(Effect.Tell.class))
        .extracting(Effect.Tell::stream, Effect.Tell::requestId, Effect.Tell::sequence)
        .containsExactlyInAnyOrder(
            org.assertj.core.groups.Tuple.tuple(second, "held", 1L),
            org.assertj.core.groups.Tuple.tuple(second, "lost", 2L));
  }

  @Test
  void endingThatNobodyHeardIsToldToTheNextStreamOnce() {
    // Given: a waiter whose wait ran out while nobody listened
    LeaseId lease = bench.lease();
    bench.create(bench.acquire("a"));
    StreamId first = bench.attach(lease);
    Asked waiting = bench.acquireInSession(first, lease, "w", "a");
    bench.create(waiting);
    bench.on(new ClientEvent.StreamClosed(first, false));
    bench.release(waiting);
    bench.deleted(waiting);
    assertThat(bench.told(waiting, Notice.NotAcquired.class)).isEmpty();
    // When: the session may be another coordinator's, and the request be queued there again
    bench.proving = false;
    bench.attach(lease);
    assertThat(bench.told(waiting, Notice.NotAcquired.class)).isEmpty();
    bench.proving = true;
    bench.on(new SessionEvent.SessionProved(Bench.S1, bench.now, bench.now));
    bench.attach(lease);
    // Then
    assertThat(bench.told(waiting, Notice.NotAcquired.class)).hasSize(1);
  }

  @Test
  void lossesThatNobodyHeardAreRememberedBeyondTheLimitForOtherEndings() {
    // Given: more holds are lost while the client is away than endings are kept otherwise
    LeaseId lease = bench.lease();
    StreamId first = bench.attach(lease);
    int holds = 1_100;
    List<StoreEvent.CreatedEntry> entries = new ArrayList<>();
    for (int i = 0; i < holds; i++) {
      entries.add(bench.create(bench.acquireInSession(first, lease, "r" + i, "lock" + i)));
    }
    bench.on(new ClientEvent.StreamClosed(first, false));
    entries.forEach(bench::vanish);
    // When
    StreamId second = bench.attach(lease);
    // Then
    assertThat(bench.all(Effect.Tell.class))
        .filteredOn(t -> t.stream().equals(second) && t.notice() instanceof Notice.Lost)
        .hasSize(holds);
  }

  @Test
  void lossIsRememberedAndPinsNoneOfTheEndingsThatFollow() {
    // Given
    LeaseId lease = bench.lease();
    StreamId first = bench.attach(lease);
    Asked lost = bench.acquireInSession(first, lease, "lost", "a");
    bench.vanish(bench.create(lost));
    bench.deleted(lost);
    // When
    for (int i = 0; i < 20_000; i++) {
      Asked asked = bench.acquireInSession(first, lease, "r" + i, "b");
      StoreEvent.CreatedEntry entry = bench.create(asked);
      bench.release(asked);
      bench.vanish(entry);
      bench.deleted(asked);
    }
    // Then
    Lease remembering = bench.kernel.core.leases.get(lease);
    assertThat(IntStream.range(0, 20_000))
        .filteredOn(i -> remembering.ending("r" + i).isPresent())
        .hasSizeLessThanOrEqualTo(256);
    StreamId second = bench.attach(lease);
    assertThat(bench.last(Effect.Tell.class))
        .filteredOn(tell -> tell.stream().equals(second))
        .extracting(Effect.Tell::requestId)
        .containsExactly("lost");
  }

  @Test
  void placesThatAreToldAgainLeaveOutWhatTheHolderSaysOfItself() {
    // Given
    AcquireCommand talkative =
        Wish.named("held")
            .exclusive("a")
            .saying(Map.of("purpose", "x".repeat(4_000)))
            .command(Optional.empty());
    bench.create(bench.acquire(new LeaseId(5, 6), talkative, bench.stream()));
    LeaseId lease = bench.lease();
    Asked waiting = bench.acquireInSession(bench.attach(lease), lease, "w", "a");
    bench.create(waiting);
    // When
    bench.attach(lease);
    // Then
    assertThat(bench.told(waiting, Notice.Queued.class))
        .extracting(q -> q.places().get(0).holders().get(0).metadata().size())
        .containsExactly(1, 0);
  }

  @Test
  void grantIsNotToldAgainOnceItsReleaseHasArrived() {
    // Given: the release is under way, and the next in the queue may hold already
    LeaseId lease = bench.lease();
    StreamId first = bench.attach(lease);
    Asked held = bench.acquireInSession(first, lease, "held", "a");
    bench.create(held);
    bench.release(held);
    // When: the client comes back before the deletion is certain, and asks again besides
    StreamId second = bench.attach(lease);
    bench.acquireInSession(second, lease, "held", "a");
    bench.deleted(held);
    // Then
    assertThat(bench.told(held, Notice.Granted.class)).hasSize(1);
    assertThat(bench.told(held, Notice.Released.class)).hasSize(1);
  }

  @Test
  void streamThatClosesLeavesItsLeaseAlone() {
    LeaseId lease = bench.lease();
    StreamId stream = bench.attach(lease);
    Asked held = bench.acquireInSession(stream, lease, "r", "a");
    bench.create(held);
    bench.on(new ClientEvent.StreamClosed(stream, false));
    assertThat(bench.counts().held()).isEqualTo(1);
    assertThat(bench.kernel.lease(Caller.ANYBODY, lease, 10, bench.now)).isPresent();
  }

  private CallId keepAlive(LeaseId lease) {
    CallId call = bench.call();
    bench.on(new ClientEvent.KeepAlive(call, lease));
    return call;
  }
}
