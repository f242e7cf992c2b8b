package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LockChange;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.UpdateEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What holders say of themselves, and who hears it. */
class DescriptionsTest {

  private static final LockName A = new LockName("a");
  private static final Map<String, String> NEWS = Map.of("step", "2 of 3");
  private final Bench bench = Bench.ready();

  private CallId update(Asked asked) {
    CallId call = bench.call();
    bench.on(new ClientEvent.UpdateMetadata(call, asked.lease(), asked.requestId(), NEWS));
    return call;
  }

  private void answer(EntryUpdate.Outcome outcome) {
    bench
        .last(StoreEffect.UpdateEntry.class)
        .forEach(a -> bench.on(new UpdateEvent.EntryUpdateAnswered(a.number(), outcome)));
  }

  private List<LockChange.Cause> published() {
    return bench.last(Effect.Publish.class).stream().map(p -> p.change().cause()).toList();
  }

  @Test
  void queuedTellsWhoHoldsAndWhatTheHolderSays() {
    // Given
    bench.alone(Wish.named("h").exclusive("a").saying(Map.of("why", "backup")));
    // When
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    // Then
    Contender holder =
        bench.told(waiter, Notice.Queued.class).get(0).places().get(0).holders().get(0);
    assertThat(holder.metadata()).isEqualTo(Map.of("why", "backup"));
    assertThat(holder.heldForNanos()).isPresent();
  }

  @Test
  void newMetadataOfAHolderIsWrittenAndThenToldToWaitersAndWatchers() {
    // Given
    Asked holder = bench.alone(Wish.named("h").exclusive("a"));
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    // When
    CallId call = update(holder);
    assertThat(bench.told(waiter, Notice.Position.class)).isEmpty();
    answer(EntryUpdate.Outcome.DONE);
    // Then
    assertThat(bench.answer(call)).isEqualTo(new Answer.Described());
    assertThat(published()).containsExactly(LockChange.Cause.METADATA);
    assertThat(bench.told(waiter, Notice.Position.class).get(0).places().get(0).holders())
        .extracting(Contender::metadata)
        .containsExactly(NEWS);
  }

  @Test
  void manyChangesAreToldToWaitersOnceASecond() {
    // Given
    Asked holder = bench.alone(Wish.named("h").exclusive("a"));
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    // When
    for (int i = 0; i < 50; i++) {
      update(holder);
      answer(EntryUpdate.Outcome.DONE);
    }
    // Then
    assertThat(bench.told(waiter, Notice.Position.class)).hasSize(1);
    bench.pass(Duration.ofSeconds(3));
    assertThat(bench.told(waiter, Notice.Position.class)).hasSize(2);
  }

  @Test
  void changeThatIsNotConfirmedIsNotCalledDone() {
    CallId call = update(bench.alone(Wish.named("h").exclusive("a")));
    answer(EntryUpdate.Outcome.FAILED);
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.UNAVAILABLE);
  }

  @Test
  void changeOfWhatHasEndedIsRefused() {
    // Given
    Asked holder = bench.alone(Wish.named("h").exclusive("a"));
    bench.release(holder);
    bench.deleteAll(holder);
    // Then
    assertThat(bench.failure(update(holder))).isEqualTo(Failure.Reason.ENDED);
  }

  @Test
  void changeOfWhatIsNotKnownIsRefused() {
    CallId call = bench.call();
    bench.on(new ClientEvent.UpdateMetadata(call, bench.lease(), "never", NEWS));
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.UNKNOWN_ACQUISITION);
    CallId other = bench.call();
    bench.on(new ClientEvent.UpdateMetadata(other, new LeaseId(1, 2), "h", NEWS));
    assertThat(bench.failure(other)).isEqualTo(Failure.Reason.UNKNOWN_LEASE);
  }

  @Test
  void answerToAWishToGiveWayIsShownAndCountsDown() {
    // Given
    Asked holder = bench.alone(Wish.named("h").exclusive("a"));
    CallId call = bench.call();
    // When
    bench.on(
        new ClientEvent.AnswerRelease(
            call, holder.lease(), holder.requestId(), Duration.ofSeconds(8)));
    EntryUpdate.Describe written =
        (EntryUpdate.Describe) bench.last(StoreEffect.UpdateEntry.class).get(0).update();
    answer(EntryUpdate.Outcome.DONE);
    bench.pass(Duration.ofSeconds(3));
    // Then
    assertThat(bench.answer(call)).isEqualTo(new Answer.Described());
    assertThat(written.details().needsMillis()).contains(8_000L);
    assertThat(bench.kernel.lock(A, 0, bench.now).holders().get(0).needsNanos())
        .contains(Duration.ofSeconds(5).toNanos());
  }

  @Test
  void waiterHasNothingToAnswer() {
    // Given
    bench.alone(Wish.named("h").exclusive("a"));
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    CallId call = bench.call();
    // When
    bench.on(
        new ClientEvent.AnswerRelease(
            call, waiter.lease(), waiter.requestId(), Duration.ofSeconds(8)));
    // Then
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.NOT_HELD);
  }

  @Test
  void newMetadataOfAHolderElsewhereIsReadAndToldHere() {
    // Given
    StoreEvent.CreatedEntry entry = bench.foreign("a", new UUID(0x77, 1), MutexKind.EXCLUSIVE);
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    // When
    bench.on(new StoreEvent.EntryChanged(A, entry.name(), bench.zxid()));
    assertThat(bench.last(StoreEffect.ReadDetails.class))
        .containsExactly(new StoreEffect.ReadDetails(A, entry.name().text()));
    EntryDetails details =
        new EntryDetails(
            "77", "r", "", "peer", NEWS, false, false, Optional.of(4_000L), Optional.empty());
    StoreEvent.ReadEntry read =
        new StoreEvent.ReadEntry(details, entry.czxid(), 0, Optional.empty());
    bench.on(new StoreEvent.DetailsRead(A, entry.name().text(), Optional.of(read)));
    // Then
    assertThat(published()).endsWith(LockChange.Cause.METADATA);
    Contender holder =
        bench.told(waiter, Notice.Position.class).get(0).places().get(0).holders().get(0);
    assertThat(holder.metadata()).isEqualTo(NEWS);
    assertThat(holder.token()).isPresent();
    assertThat(holder.needsNanos()).contains(Duration.ofSeconds(4).toNanos());
  }

  @Test
  void eachLevelsEntrySaysWhatItsOwnRequestSays() {
    // Given
    LeaseId lease = bench.lease();
    bench.askAndCreate(lease, Wish.named("one").exclusive("a").by("thread"));
    Asked second = bench.askAndCreate(lease, Wish.named("two").exclusive("a").by("thread"));
    // When
    update(second);
    answer(EntryUpdate.Outcome.DONE);
    // Then
    assertThat(bench.kernel.lock(A, 0, bench.now).holders())
        .extracting(Contender::requestId, Contender::metadata)
        .containsExactly(tuple("one", Map.of()), tuple("two", NEWS));
  }

  @Test
  void entryOfALevelIsNotDescribedBeforeItIsCreated() {
    // Given: it was granted at once, and ZooKeeper has not answered
    LeaseId lease = bench.lease();
    bench.askAndCreate(lease, Wish.named("one").exclusive("a").by("thread"));
    Asked second = bench.ask(lease, Wish.named("two").exclusive("a").by("thread"));
    // When
    CallId call = update(second);
    // Then: the store would find nothing to change, and that is not the acquisition's end
    assertThat(bench.last(StoreEffect.UpdateEntry.class)).isEmpty();
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.UNAVAILABLE);
  }
}
