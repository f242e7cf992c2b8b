package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The read/write lock: who shares, who waits, and how a writer goes on reading. */
class ReadWriteTest {

  private final Bench bench = Bench.ready();
  private int names;

  private Asked read() {
    return bench.alone(Wish.named("r" + ++names).read("a"));
  }

  private Asked write() {
    return bench.alone(Wish.named("w" + ++names).write("a"));
  }

  @Test
  void writerTakesTheReadLockBesideItsWriteLockAndKeepsTheToken() {
    // Given
    LeaseId lease = bench.lease();
    Asked writer = bench.askAndCreate(lease, Wish.named("w").write("a").by("thread"));
    // When
    Asked reader = bench.askAndCreate(lease, Wish.named("r").read("a").by("thread"));
    // Then
    PlannedEntry planned = bench.planned(reader).entries().get(0);
    long token = bench.granted(writer).grants().get(0).token().value();
    assertThat(planned.beside().orElseThrow().token().value()).isEqualTo(token);
    assertThat(bench.granted(reader).grants().get(0).token().value()).isEqualTo(token);
  }

  @Test
  void writerThatGoesOnReadingLetsReadersInAndNoQueuedWriter() {
    // Given: a writer, another writer behind it, and the read lock taken by the first
    LeaseId lease = bench.lease();
    Asked writer = bench.askAndCreate(lease, Wish.named("w").write("a").by("thread"));
    Asked queued = write();
    Asked reader = bench.askAndCreate(lease, Wish.named("r").read("a").by("thread"));
    // When
    bench.release(writer);
    bench.deleteAll(writer);
    boolean slippedIn = bench.wasGranted(queued);
    bench.release(reader);
    // Then
    assertThat(slippedIn).isFalse();
    assertThat(bench.wasGranted(queued)).isTrue();
    assertThat(bench.granted(queued).grants().get(0).token().value())
        .isGreaterThan(bench.granted(reader).grants().get(0).token().value());
  }

  @Test
  void nobodyIsGrantedAheadOfTheCommitWhileAReadIsOnItsWayBesideTheWrite() {
    // Given: the read entry is asked for and not created yet
    LeaseId lease = bench.lease();
    Asked writer = bench.askAndCreate(lease, Wish.named("w").write("a").by("thread"));
    Asked queued = write();
    Asked reader = bench.ask(lease, Wish.named("r").read("a").by("thread"));
    // When: the write lock is released at once
    bench.release(writer);
    boolean handedOff = bench.wasGranted(queued);
    bench.createAll(reader);
    bench.deleteAll(writer);
    // Then
    assertThat(handedOff).isFalse();
    assertThat(bench.wasGranted(reader)).isTrue();
    assertThat(bench.wasGranted(queued)).isFalse();
  }

  @Test
  void readBesideTheWriteThatIsRefusedKeepsItsPlaceUntilItIsCreated() {
    // Given
    LeaseId lease = bench.lease();
    Asked writer = bench.askAndCreate(lease, Wish.named("w").write("a").by("thread"));
    Asked queued = write();
    Asked reader = bench.ask(lease, Wish.named("r").read("a").by("thread"));
    bench.release(writer);
    // When
    bench.on(new StoreEvent.EntriesRefused(reader.id(), "no room"));
    bench.pass(Duration.ofSeconds(1));
    bench.createAll(reader);
    bench.deleteAll(writer);
    // Then
    assertThat(bench.told(reader, Notice.Lost.class)).isEmpty();
    assertThat(bench.wasGranted(queued)).isFalse();
    bench.release(reader);
    assertThat(bench.wasGranted(queued)).isTrue();
  }

  @Test
  void readBesideAWriteThatIsGoneIsLostAndTheQueuedWriterIsGranted() {
    // Given
    LeaseId lease = bench.lease();
    Asked writer = bench.askAndCreate(lease, Wish.named("w").write("a").by("thread"));
    Asked queued = write();
    Asked reader = bench.ask(lease, Wish.named("r").read("a").by("thread"));
    bench.vanish(bench.created(writer));
    // When
    bench.on(new StoreEvent.EntriesRefused(reader.id(), "the write entry is gone"));
    // Then
    assertThat(bench.told(reader, Notice.Lost.class))
        .containsExactly(new Notice.Lost(Notice.LossReason.REMOVED, ""));
    assertThat(bench.wasGranted(queued)).isTrue();
  }

  @Test
  void readerOfAnotherOwnerWaitsForTheWriter() {
    // Given
    LeaseId lease = bench.lease();
    bench.askAndCreate(lease, Wish.named("w").write("a").by("one"));
    // When
    Asked reader = bench.askAndCreate(lease, Wish.named("r").read("a").by("two"));
    Asked unnamed = bench.askAndCreate(lease, Wish.named("u").read("a"));
    // Then
    assertThat(bench.planned(reader).entries().get(0).beside()).isEmpty();
    assertThat(List.of(reader, unnamed)).noneMatch(bench::wasGranted);
  }

  @Test
  void readerThatAsksForTheWriteLockIsToldAtOnceThatItWouldWaitForItself() {
    // Given
    LeaseId lease = bench.lease();
    bench.askAndCreate(lease, Wish.named("r").read("a").by("thread"));
    // When
    Asked upgrade = bench.ask(lease, Wish.named("w").write("a").by("thread"));
    // Then
    assertThat(bench.ending(upgrade).reason()).isEqualTo(Notice.RefusalReason.WOULD_DEADLOCK);
    assertThat(bench.ending(upgrade).message())
        .contains("'a'", "READ", "WRITE", "wait for itself", "release");
    // And the same request again gets the same answer
    Asked again = bench.ask(lease, Wish.named("w").write("a").by("thread"));
    assertThat(bench.told(again, Notice.NotAcquired.class)).hasSize(2);
  }

  @Test
  void writerThatAlsoReadsMayWriteOnceMore() {
    // Given
    LeaseId lease = bench.lease();
    bench.askAndCreate(lease, Wish.named("w").write("a").by("thread"));
    bench.askAndCreate(lease, Wish.named("r").read("a").by("thread"));
    // When
    Asked more = bench.ask(lease, Wish.named("w2").write("a").by("thread"));
    // Then
    assertThat(bench.granted(more).grants().get(0).holdCount()).isEqualTo(2);
  }

  @Test
  void whereTheCounterSticksNoWriterCanGoOnReading() {
    // Given
    bench.nextSequence("a", Integer.MAX_VALUE);
    LeaseId lease = bench.lease();
    bench.askAndCreate(lease, Wish.named("w").write("a").by("thread"));
    // When
    Asked reader = bench.ask(lease, Wish.named("r").read("a").by("thread"));
    // Then
    assertThat(bench.refusals(reader.stream())).containsExactly(Failure.Reason.COUNTER_STUCK);
  }

  @Test
  void whereTheCounterSticksAReadOfTheSameNumberIsNotTakenForTheWritersOwn() {
    // Given
    bench.nextSequence("a", Integer.MAX_VALUE);
    write();
    bench.nextSequence("a", Integer.MAX_VALUE);
    // When
    Asked reader = read();
    // Then
    assertThat(bench.wasGranted(reader)).isFalse();
  }
}
