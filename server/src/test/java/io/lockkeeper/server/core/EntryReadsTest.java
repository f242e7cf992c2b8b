package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Entries that are not ours are read for whoever wants to see them, and nobody waits for long. */
class EntryReadsTest {

  private static final LockName A = new LockName("a");
  private static final int ENTRIES = 2_100;

  // Nobody watches: only whoever looks has entries read.
  private final Bench bench = Bench.unwatched();

  private static EntryName entry(int number) {
    return EntryName.parse(String.format(Locale.ROOT, "lock-%010d", number)).orElseThrow();
  }

  private void appear(int number) {
    bench.on(new StoreEvent.EntryAppeared(A, entry(number), 0x1_0000_0005L + number));
  }

  private CallId look(int queueLimit) {
    CallId call = bench.call();
    bench.on(new ClientEvent.ShowLocks(call, List.of(A), queueLimit));
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
    answer(1, Optional.of(read(1)));
    LockView shown = shown(call);
    assertThat(shown.holders()).extracting(Contender::entry).containsExactly(entry(0).text());
    assertThat(shown.queue()).extracting(Contender::entry).containsExactly(entry(1).text());
    assertThat(shown.queueLength()).isEqualTo(2);
  }

  private LockView shown(CallId call) {
    return ((Answer.LocksShown) bench.answer(call)).locks().get(0);
  }

  @Test
  void lockThatChangesHandsBeforeItsHolderIsReadIsLookedAtAgain() {
    // Given
    appear(0);
    appear(1);
    CallId call = look(0);
    // When
    bench.on(new StoreEvent.EntryVanished(A, entry(0), 0x1_0000_1000L));
    answer(0, Optional.empty());
    assertThat(bench.answers(call)).isEmpty();
    answer(1, Optional.of(read(1)));
    // Then
    assertThat(shown(call).holders()).extracting(Contender::entry).containsExactly(entry(1).text());
  }

  @Test
  void holderThatIsReadIsShownThoughItHasGoneMeanwhile() {
    // Given: the lock changes hands faster than anybody can look
    appear(0);
    CallId call = look(0);
    // When
    answer(0, Optional.of(read(0)));
    bench.on(new StoreEvent.EntryVanished(A, entry(0), 0x1_0000_1000L));
    // Then
    assertThat(shown(call).holders()).singleElement().satisfies(EntryReadsTest::hasToken);
  }

  private static void isNotKnown(Contender holder) {
    assertThat(holder.holder()).isEqualTo("(not known yet)");
    assertThat(holder.entry()).isEqualTo(entry(0).text());
    assertThat(holder.token()).isEmpty();
  }

  private static void hasToken(Contender holder) {
    assertThat(holder.token()).isPresent();
  }

  @Test
  void holderThatCannotBeReadHidesNobodyElse() {
    // Given
    appear(0);
    bench.alone(Wish.named("own").exclusive("b"));
    CallId call = bench.call();
    bench.on(new ClientEvent.ShowLocks(call, List.of(A, new LockName("b")), 0));
    // When: each time the node is there, and cannot be read
    while (bench.answers(call).isEmpty()) {
      answer(0, Optional.empty());
    }
    // Then: nor does the lock look free
    List<LockView> shown = ((Answer.LocksShown) bench.answer(call)).locks();
    assertThat(shown.get(0).holders()).singleElement().satisfies(EntryReadsTest::isNotKnown);
    assertThat(shown.get(1).holders()).extracting(Contender::requestId).containsExactly("own");
  }

  @Test
  void holderThatMustNotBeReadIsShownByWhenItWasCreated() {
    // Given
    appear(0);
    CallId call = look(0);
    // When
    answer(
        0,
        Optional.of(
            new StoreEvent.ReadEntry(
                EntryDetails.foreign("(cannot be read)", Optional.empty()),
                0,
                0,
                Optional.empty())));
    // Then
    Contender holder = shown(call).holders().get(0);
    assertThat(holder.holder()).isEqualTo("(cannot be read)");
    assertThat(holder.token()).contains(FencingToken.of(0x1_0000_0005L, 0));
  }

  @Test
  void whoBeganToHoldWhileTheMirrorWasAwayHasHeldForAtLeastTheTimeShown() {
    // Given: one who waits, one who waits behind him, and the holder
    appear(0);
    appear(1);
    appear(2);
    // When
    bench.on(new StoreEvent.MirrorStale());
    bench.pass(Duration.ofSeconds(8));
    bench.on(new StoreEvent.RebuildStarted(Set.of(A)));
    bench.on(
        new StoreEvent.QueueListed(
            A,
            List.of(
                new StoreEvent.ListedEntry(entry(1), Optional.empty(), 0),
                new StoreEvent.ListedEntry(entry(2), Optional.empty(), 0)),
            List.of()));
    bench.on(new StoreEvent.MirrorCurrent());
    CallId call = look(1);
    answer(1, Optional.of(read(1)));
    answer(2, Optional.of(read(2)));
    // Then
    assertThat(shown(call).holders()).singleElement().matches(Contender::atLeast);
    assertThat(shown(call).queue()).singleElement().matches(waiter -> !waiter.atLeast());
  }

  @Test
  void whoLooksWhileTheMirrorIsRebuiltIsToldToTryAgain() {
    // Given
    bench.on(new StoreEvent.MirrorStale());
    // When
    CallId call = look(0);
    // Then
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.UNAVAILABLE);
  }

  @Test
  void lockOfWhichEverythingIsKnownIsAnsweredAtOnce() {
    // When
    CallId call = look(10);
    // Then
    assertThat(shown(call).holders()).isEmpty();
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
    assertThat(shown(first).holders()).singleElement().satisfies(EntryReadsTest::isNotKnown);
    assertThat(bench.answers(second)).isEmpty();
    assertThat(asked()).hasSize(1);
    bench.pass(Duration.ofSeconds(2));
    assertThat(shown(second).holders()).singleElement().satisfies(EntryReadsTest::isNotKnown);
    CallId third = look(1);
    assertThat(asked()).hasSize(2);
    answer(0, Optional.of(read(0)));
    assertThat(shown(third).holders()).singleElement().satisfies(EntryReadsTest::hasToken);
    assertThat(bench.answers(first)).hasSize(1);
  }

  @Test
  void entriesAreReadAFewAtATimeAndAllOfThem() {
    // Given
    for (int i = 0; i < ENTRIES; i++) {
      appear(i);
    }
    CallId call = look(ENTRIES);
    assertThat(asked()).hasSize(256);
    // When
    for (int i = 0; i < ENTRIES; i++) {
      answer(i, Optional.of(read(i)));
      assertThat(asked().size()).isLessThanOrEqualTo(256 + i + 1);
    }
    // Then
    assertThat(shown(call).queue()).hasSize(ENTRIES - 1);
  }
}
