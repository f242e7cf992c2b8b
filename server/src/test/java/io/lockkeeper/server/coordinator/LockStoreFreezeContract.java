package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.lock.Freeze;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What every store does with frozen prefixes. */
public abstract class LockStoreFreezeContract {

  private final String id = UUID.randomUUID().toString();
  private long numbers;

  /** What hears the store. */
  protected final RecordedEvents events = new RecordedEvents();

  /** Returns a store that has been started with {@link #events}. */
  protected abstract LockStore store();

  private FreezeEvent.Read freeze(Freeze freeze) {
    // What is frozen before is listed, and not told as it appears.
    events.awaitCurrent();
    int before = reads(freeze.prefix()).size();
    long number = ++numbers;
    store().setFreeze(new StoreEffect.SetFreeze(number, freeze));
    assertThat(answer(number)).isEqualTo(FreezeEvent.Outcome.DONE);
    org.awaitility.Awaitility.await().until(() -> reads(freeze.prefix()).size() > before);
    return reads(freeze.prefix()).get(before);
  }

  private List<FreezeEvent.Read> reads(String prefix) {
    return events.all(FreezeEvent.Read.class).stream()
        .filter(read -> read.freeze().prefix().equals(prefix))
        .toList();
  }

  private FreezeEvent.Outcome remove(String prefix) {
    long number = ++numbers;
    store().removeFreeze(new StoreEffect.RemoveFreeze(number, prefix));
    return answer(number);
  }

  private FreezeEvent.Outcome answer(long number) {
    return events
        .await(FreezeEvent.Answered.class, answered -> answered.number() == number)
        .outcome();
  }

  private void awaitVanished(String prefix) {
    events.await(FreezeEvent.Vanished.class, gone -> gone.prefix().equals(prefix));
  }

  private Freeze sample(String prefix) {
    return new Freeze(prefix, "migration", "ops", Optional.of(Duration.ofSeconds(90)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "a/", "a/b.c", ".", "..", "100%/ü/日本 x", "-_"})
  void freezeIsToldAsItWasWrittenAndSoIsItsEnd(String name) {
    // Given
    Freeze freeze = sample(name.isEmpty() ? "" : name + id);
    // When
    FreezeEvent.Read read = freeze(freeze);
    FreezeEvent.Outcome removed = remove(freeze.prefix());
    // Then
    assertThat(read.freeze()).isEqualTo(freeze);
    assertThat(removed).isEqualTo(FreezeEvent.Outcome.DONE);
    awaitVanished(freeze.prefix());
    FreezeEvent.Appeared appeared = new FreezeEvent.Appeared(freeze.prefix());
    assertThat(events.all(FreezeEvent.class))
        .containsSubsequence(appeared, read, new FreezeEvent.Vanished(freeze.prefix()));
  }

  @Test
  void whatIsNotFrozenCannotBeThawed() {
    assertThat(remove(id)).isEqualTo(FreezeEvent.Outcome.NOT_FROZEN);
  }

  @Test
  void freezingAgainReplacesTheRecord() {
    // Given
    FreezeEvent.Read first = freeze(sample(id));
    Freeze other = new Freeze(id, "more", "ops", Optional.empty());
    // When
    FreezeEvent.Read second = freeze(other);
    // Then
    assertThat(second.freeze()).isEqualTo(other);
    assertThat(second.zxid()).isNotEqualTo(first.zxid());
    assertThat(events.all(FreezeEvent.Appeared.class).stream())
        .filteredOn(appeared -> appeared.prefix().equals(id))
        .hasSize(1);
  }

  @Test
  void thawTakesBackTheFreezeWhoseTimeIsOver() {
    // Given
    FreezeEvent.Read read = freeze(sample(id));
    // When
    store().thaw(new StoreEffect.Thaw(id, read.zxid()));
    // Then
    awaitVanished(id);
  }

  @Test
  void thawSparesAFreezeThatWasMadeAnewAlsoWhereItsNodeHasTheSameVersion() {
    // Given
    FreezeEvent.Read first = freeze(sample(id));
    remove(id);
    awaitVanished(id);
    FreezeEvent.Read second = freeze(sample(id));
    // When
    store().thaw(new StoreEffect.Thaw(id, first.zxid()));
    store().thaw(new StoreEffect.Thaw(id, second.zxid()));
    // Then: the first did nothing, and the second all
    assertThat(second.zxid()).isNotEqualTo(first.zxid());
    org.awaitility.Awaitility.await()
        .until(
            () ->
                events.all(FreezeEvent.Vanished.class).stream()
                        .filter(gone -> gone.prefix().equals(id))
                        .count()
                    == 2);
  }
}
