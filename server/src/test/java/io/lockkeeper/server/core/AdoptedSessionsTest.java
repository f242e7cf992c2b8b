package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.simulation.Wish;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Sessions that are taken over, whatever is in them. */
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
}
