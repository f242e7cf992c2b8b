package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What is adopted when somebody else has meddled with it, or something is still under way. */
class AdoptedInDoubtTest {

  private final Bench bench = Bench.ready();
  private final Inheritance left = new Inheritance(bench);

  @Test
  void requestOneOfWhoseEntriesSomebodyHasWrittenOverIsStillOneRequest() {
    // Given: what Curator's Revoker writes says nothing of whose the entry is
    LeaseId lease = left.lease();
    Wish both = Wish.named("both").exclusive("a", "b");
    List<Long> tokens = left.entries(lease, both);
    left.overwrite("a", "both");
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    bench.repeat(stream, lease, both.holding(tokens.get(0), tokens.get(1)));
    // Then
    assertThat(bench.told("both", Notice.Granted.class))
        .isNotEmpty()
        .allSatisfy(
            granted ->
                assertThat(granted.grants())
                    .extracting(grant -> grant.token().value())
                    .containsExactlyElementsOf(tokens));
    // And: nothing is left of it when it is given back
    bench.on(new ClientEvent.Release(bench.call(), lease, "both", 0));
    assertThat(bench.deletions()).singleElement().extracting(d -> d.entries().size()).isEqualTo(2);
  }

  @Test
  void waiterWithALockDelayIsNotGrantedAheadOfACommitThatWasUnderWayWhenItCame() {
    // Given: whoever was ahead has released here, so that another's next was taken for a holder
    Bench.Asked ahead = bench.acquire("a");
    bench.create(ahead);
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("next").exclusive("a").delaying(Duration.ofSeconds(3)));
    bench.release(ahead);
    left.take();
    // When
    bench.attach(lease);
    // Then
    assertThat(bench.told("next", Notice.Granted.class)).isEmpty();
    bench.deleted(ahead);
    assertThat(bench.told("next", Notice.Granted.class)).hasSize(1);
  }

  @Test
  void holderIsNotifiedWhenAnAdoptedEntryHasToWaitForACommit() {
    // Given: both readers count as holders, ahead of the commit of the writer's release
    Bench.Asked writer = bench.alone(Wish.named("writer").write("a"));
    Bench.Asked reader = bench.alone(Wish.named("reader").read("a").notifiedOfContention());
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("next").read("a").delaying(Duration.ofSeconds(3)));
    bench.release(writer);
    assertThat(bench.told(reader, Notice.Granted.class)).hasSize(1);
    // When
    left.take();
    // Then
    assertThat(bench.told(reader, Notice.Contended.class)).hasSize(1);
    assertThat(bench.told(reader, Notice.Contended.class).get(0).waiters()).isOne();
  }

  @Test
  void whoHoldsByItsTokenIsNotGivenBackWhenItsStreamClosesBeforeItIsGrantedHere() {
    // Given: the session is in doubt when the client repeats its request
    LeaseId lease = left.lease();
    Wish held = Wish.named("held").exclusive("a").waiting(Duration.ZERO);
    long token = left.entriesOfAnOwnStream(lease, held).get(0);
    SessionKey session = left.take(true);
    bench.proving = false;
    bench.on(new SessionEvent.SessionSuspended(session));
    StreamId stream = bench.stream();
    bench.on(
        new ClientEvent.Acquire(
            stream,
            new UUID(lease.high(), 9),
            lease,
            held.holding(token).command(Optional.of(lease)),
            false));
    bench.on(new ClientEvent.StreamClosed(stream, false));
    // When
    bench.on(new SessionEvent.SessionProved(session, bench.now, bench.now));
    bench.proving = true;
    bench.pass(Bench.settings().linger().plusMillis(1));
    // Then
    assertThat(bench.deletions()).isEmpty();
  }
}
