package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.ClientRequest;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.Quota;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.simulation.Wish;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Takeovers of sessions with any content, and releases that overtake their requests. */
class AdoptedSessionsTest {

  private final Bench bench = Bench.ready();
  private final Inheritance left = new Inheritance(bench);

  @Test
  void sessionThatWasAdoptedTakesNoNewLeasesAndIsClosedWhenEmpty() {
    // Given
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("held").exclusive("a"));
    SessionKey key = left.take();
    // When
    bench.lease();
    assertThat(bench.last(StoreEffect.RecordLease.class)).isEmpty();
    assertThat(bench.all(StoreEffect.RecordLease.class))
        .extracting(StoreEffect.RecordLease::session)
        .containsExactly(Bench.S1);
    bench.on(new ClientEvent.CloseLease(bench.call(), lease));
    UUID deleted = bench.deletions().get(0).id();
    bench.on(new StoreEvent.EntriesDeleted(deleted));
    bench.erased(lease);
    // Then
    assertThat(bench.all(StoreEffect.CloseSession.class))
        .containsExactly(new StoreEffect.CloseSession(key));
  }

  @Test
  void sessionWithNothingOnItIsClosedAtOnce() {
    // When
    SessionKey key = left.take();
    // Then
    assertThat(bench.all(StoreEffect.CloseSession.class))
        .containsExactly(new StoreEffect.CloseSession(key));
  }

  @Test
  void orphanIsAskedForOnceUntilThatIsDecided() {
    // Given
    SessionKey key = left.claim();
    // When
    bench.on(new SessionEvent.OrphanFound(Inheritance.CLAIM));
    assertThat(bench.all(StoreEffect.AdoptSession.class)).hasSize(1);
    bench.on(new SessionEvent.SessionEnded(key, true));
    bench.on(new SessionEvent.OrphanFound(Inheritance.CLAIM));
    // Then
    assertThat(bench.all(StoreEffect.AdoptSession.class)).hasSize(2);
    assertThat(bench.all(StoreEffect.OpenSession.class)).hasSize(1);
  }

  @Test
  void adoptedSessionDoesNotCountAgainstTheCap() {
    // Given
    for (int i = 0; i < Bench.settings().maxSessions(); i++) {
      bench.on(new SessionEvent.OrphanFound("claim-" + i));
    }
    // Then
    assertThat(bench.all(StoreEffect.AdoptSession.class)).hasSize(Bench.settings().maxSessions());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void requestThatArrivesAfterItsReleaseWasAnsweredIsNotQueued(boolean adopted) {
    // Given: the release came on a new connection, the request comes on the one before
    LeaseId lease = adopted ? left.lease() : bench.lease();
    left.take();
    CallId release = bench.call();
    bench.on(new ClientEvent.Release(release, lease, "late", 0));
    assertThat(bench.answers(release)).hasSize(1);
    // When
    Wish late = Wish.named("late").exclusive("a");
    bench.ask(lease, late);
    bench.ask(lease, late);
    // Then
    assertThat(bench.told("late")).containsExactly(new Notice.Released(), new Notice.Released());
    assertThat(bench.all(StoreEffect.CreateEntries.class)).isEmpty();
  }

  @Test
  void releaseWhoseRequestArrivesBeforeItIsAnsweredReleasesIt() {
    // Given: the owner is known only while its own requests are handled
    LeaseId lease = new LeaseId(7, 7);
    Caller owner = new Caller("owner", false, "owner", Quota.UNLIMITED);
    bench.on(
        new ClientRequest(
            owner, new ClientEvent.OpenLease(bench.call(), lease, "hash", Bench.TTL, "tester")));
    bench.recorded(lease);
    bench.proving = false;
    CallId release = bench.call();
    bench.on(new ClientRequest(owner, new ClientEvent.Release(release, lease, "late", 0)));
    UUID id = new UUID(lease.high(), 1);
    AcquireCommand late = Wish.named("late").exclusive("a").command(Optional.of(lease));
    bench.on(
        new ClientRequest(owner, new ClientEvent.Acquire(bench.stream(), id, lease, late, false)));
    // When
    bench.on(new SessionEvent.SessionProved(Bench.S1, bench.now, bench.now));
    bench.on(new StoreEvent.EntriesRefused(id, "not created"));
    // Then
    assertThat(bench.answer(release))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.WITHDRAWN, 0));
  }
}
