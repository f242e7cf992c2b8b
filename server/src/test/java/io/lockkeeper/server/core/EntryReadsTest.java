package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LockName;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Entries that are not ours are read for whoever wants to see them, and nobody waits for long. */
class EntryReadsTest {

  private static final LockName A = new LockName("a");
  private static final int ENTRIES = 2_100;

  private final Bench bench = Bench.ready();

  private static EntryName entry(int number) {
    return EntryName.parse(String.format(Locale.ROOT, "lock-%010d", number)).orElseThrow();
  }

  private void appear(int number) {
    // Nobody watches: only whoever looks has entries read.
    bench.kernel.describeChanges(false);
    bench.on(new StoreEvent.EntryAppeared(A, entry(number), 0x1_0000_0005L + number));
  }

  private CallId look(int queueLimit) {
    CallId call = bench.call();
    bench.on(new ClientEvent.ReadQueue(call, List.of(A), queueLimit));
    return call;
  }

  private void answer(int number, Optional<StoreEvent.ReadEntry> read) {
    bench.on(new StoreEvent.DetailsRead(A, entry(number).text(), read));
  }

  private static StoreEvent.ReadEntry read(int number) {
    return new StoreEvent.ReadEntry(
        EntryDetails.foreign("", Optional.empty()), 0x1_0000_0005L + number, 0, Optional.empty());
  }

  private List<String> asked() {
    return bench.all(StoreEffect.ReadDetails.class).stream()
        .map(StoreEffect.ReadDetails::entry)
        .toList();
  }

  @Test
  void viewWaitsForEveryEntryThatItWouldShowAndForNoOther() {
    // Given
    appear(0);
    appear(1);
    appear(2);
    // When
    CallId call = look(1);
    // Then
    assertThat(asked()).containsExactlyInAnyOrder(entry(0).text(), entry(1).text());
    answer(0, Optional.of(read(0)));
    assertThat(bench.answers(call)).isEmpty();
    answer(1, Optional.empty());
    assertThat(bench.answer(call)).isEqualTo(new Answer.QueueRead());
  }

  @Test
  void lockOfWhichEverythingIsKnownIsAnsweredAtOnce() {
    // When
    CallId call = look(10);
    // Then
    assertThat(bench.answer(call)).isEqualTo(new Answer.QueueRead());
    assertThat(asked()).isEmpty();
  }

  @Test
  void nobodyWaitsForLongerThanTwoSecondsAndWhatDidNotComeIsAskedForAnew() {
    // Given
    appear(0);
    CallId first = look(1);
    bench.pass(Duration.ofMillis(1_500));
    CallId second = look(1);
    // When
    bench.pass(Duration.ofMillis(600));
    // Then: the first alone has waited long enough, and one reading was for both
    assertThat(bench.answer(first)).isEqualTo(new Answer.QueueRead());
    assertThat(bench.answers(second)).isEmpty();
    assertThat(asked()).hasSize(1);
    bench.pass(Duration.ofSeconds(2));
    assertThat(bench.answer(second)).isEqualTo(new Answer.QueueRead());
    CallId third = look(1);
    assertThat(asked()).hasSize(2);
    answer(0, Optional.of(read(0)));
    assertThat(bench.answer(third)).isEqualTo(new Answer.QueueRead());
    assertThat(bench.answers(first)).hasSize(1);
  }

  @Test
  void viewOfALongQueueHasABoundedNumberOfEntriesRead() {
    // Given
    for (int i = 0; i < ENTRIES; i++) {
      appear(i);
    }
    // When
    look(ENTRIES);
    // Then
    assertThat(asked()).hasSize(2_000);
  }
}
