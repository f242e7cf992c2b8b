package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.api.UpdateEvent.EntryUpdateAnswered;
import io.lockkeeper.server.core.api.UpdateEvent.LimitAnswered;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.RevocationRequest;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import io.lockkeeper.server.testing.ZooKeeperProxy.Action;
import io.lockkeeper.server.zookeeper.record.EntryData;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Changes over the mirror's connection while that breaks, and while others make changes too. */
final class RetriedChangesIT {

  private static final LockName LOCK = new LockName("a");
  private static final RevocationRequest ASK =
      new RevocationRequest("ask", "ops", "reboot", Optional.empty(), false);

  private final RecordedEvents events = new RecordedEvents();
  private final RecordedEvents otherEvents = new RecordedEvents();
  @AutoClose private final Ensemble ensemble = Ensemble.shared();
  private final ZooKeeperProxy proxy = ensemble.proxy();
  private final ZooKeeper truth = ensemble.client();
  private final ZooKeeperLockStore other = ensemble.store("owner", otherEvents);
  private final ZooKeeperLockStore store = ensemble.store(proxy.connectString(), "c1", events);
  private CreatedEntry entry;

  @BeforeEach
  void start() {
    SessionKey session = Asked.open(other, otherEvents, 1);
    entry = Asked.created(otherEvents, Asked.create(other, session, "a")).entries().get(0);
    events.awaitCurrent();
  }

  private EntryUpdate.Outcome update(long number, EntryUpdate update) {
    store.updateEntry(new StoreEffect.UpdateEntry(number, LOCK, entry.name(), update));
    return events.await(EntryUpdateAnswered.class, e -> e.number() == number).outcome();
  }

  private Stat stat() throws Exception {
    return truth.exists("/lk/locks/a/" + entry.name(), false);
  }

  private EntryDetails details() throws Exception {
    byte[] data = truth.getData("/lk/locks/a/" + entry.name(), false, null);
    return EntryData.read(data, 1).details();
  }

  @ParameterizedTest
  @CsvSource({
    "getData, CUT_BEFORE",
    "getData, CUT_AFTER",
    "setData, CUT_BEFORE",
    "setData, CUT_AFTER"
  })
  void wishIsWrittenOnceWhereverTheConnectionBreaks(String request, Action action)
      throws Exception {
    // Given
    int opcode = request.equals("getData") ? OpCode.getData : OpCode.setData;
    proxy.at(1, opcode, action);
    // When
    EntryUpdate.Outcome outcome = update(1, new EntryUpdate.Ask(ASK));
    // Then
    assertThat(outcome).isEqualTo(EntryUpdate.Outcome.DONE);
    assertThat(details().ask()).contains(ASK);
    assertThat(stat().getVersion()).isEqualTo(1);
    assertThat(proxy.pendingRules()).isZero();
  }

  @ParameterizedTest
  @EnumSource(
      value = Action.class,
      names = {"CUT_BEFORE", "CUT_AFTER"})
  void removalIsDoneWhereverTheConnectionBreaks(Action action) throws Exception {
    // Given
    proxy.at(1, OpCode.delete, action);
    // When
    EntryUpdate.Outcome outcome = update(1, new EntryUpdate.Remove());
    // Then
    assertThat(outcome).isEqualTo(EntryUpdate.Outcome.DONE);
    assertThat(stat()).isNull();
    assertThat(proxy.pendingRules()).isZero();
  }

  @ParameterizedTest
  @EnumSource(
      value = Action.class,
      names = {"CUT_BEFORE", "CUT_AFTER"})
  void limitIsNamedByOneMarkerWhereverTheConnectionBreaks(Action action) throws Exception {
    // Given
    store.setLimit(new StoreEffect.SetLimit(1, LOCK, OptionalInt.of(5), AccountTag.NOBODY));
    events.await(LimitAnswered.class, e -> e.change() == 1);
    proxy.at(1, r -> r.isMultiWith(OpCode.create, OpCode.delete), action);
    // When
    store.setLimit(new StoreEffect.SetLimit(2, LOCK, OptionalInt.of(7), AccountTag.NOBODY));
    LimitAnswered answer = events.await(LimitAnswered.class, e -> e.change() == 2);
    // Then
    assertThat(answer.done()).isTrue();
    assertThat(truth.getChildren("/lk/locks/a", false))
        .filteredOn(name -> name.startsWith("limit-"))
        .singleElement()
        .asString()
        .startsWith("limit-7-");
    assertThat(proxy.pendingRules()).isZero();
  }

  @Test
  void everythingIsAnsweredThoughZooKeeperIsOutOfReach() throws Exception {
    // Given
    proxy.refuse();
    // When
    store.updateEntry(new StoreEffect.UpdateEntry(1, LOCK, entry.name(), new EntryUpdate.Ask(ASK)));
    store.updateEntry(new StoreEffect.UpdateEntry(2, LOCK, entry.name(), new EntryUpdate.Remove()));
    store.setLimit(new StoreEffect.SetLimit(3, LOCK, OptionalInt.of(7), AccountTag.NOBODY));
    // Then
    Awaitility.await("answered").until(() -> events.all(EntryUpdateAnswered.class).size() == 2);
    LimitAnswered limit = events.await(LimitAnswered.class);
    assertThat(events.all(EntryUpdateAnswered.class))
        .extracting(EntryUpdateAnswered::outcome)
        .containsOnly(EntryUpdate.Outcome.FAILED);
    assertThat(limit.done()).isFalse();
    assertThat(details().ask()).isEmpty();
  }

  @Test
  void everythingIsAnsweredThoughZooKeeperNeverReplies() {
    // Given
    proxy.blackhole();
    // When
    store.updateEntry(new StoreEffect.UpdateEntry(1, LOCK, entry.name(), new EntryUpdate.Ask(ASK)));
    store.setLimit(new StoreEffect.SetLimit(2, LOCK, OptionalInt.of(7), AccountTag.NOBODY));
    // Then
    assertThat(events.await(EntryUpdateAnswered.class).outcome())
        .isEqualTo(EntryUpdate.Outcome.FAILED);
    assertThat(events.await(LimitAnswered.class).done()).isFalse();
  }

  @Test
  void entryThatANewerReleaseWroteStaysAsItIsAndIsNotCalledAsked() throws Exception {
    // Given
    byte[] newer = "{\"format\":9,\"lease\":\"77\"}".getBytes(StandardCharsets.UTF_8);
    truth.setData("/lk/locks/a/" + entry.name(), newer, -1);
    // When
    EntryUpdate.Outcome outcome = update(1, new EntryUpdate.Ask(ASK));
    // Then
    assertThat(outcome).isEqualTo(EntryUpdate.Outcome.UNREADABLE);
    assertThat(truth.getData("/lk/locks/a/" + entry.name(), false, null)).isEqualTo(newer);
  }

  @Test
  void changesThatTwoCoordinatorsMakeAtTheSameTimeAreAllKept() throws Exception {
    // When
    int count = 12; // Each change has 5 s, and the attempts grow with the square of this.
    for (int i = 1; i <= count; i++) {
      RevocationRequest ask = new RevocationRequest("ask-" + i, "", "", Optional.empty(), false);
      store.updateEntry(
          new StoreEffect.UpdateEntry(i, LOCK, entry.name(), new EntryUpdate.Ask(ask)));
      EntryDetails next = Asked.details(Map.of("round", "" + i));
      other.updateEntry(
          new StoreEffect.UpdateEntry(
              i,
              LOCK,
              entry.name(),
              new EntryUpdate.Describe(next, entry.index(), 0, Optional.empty())));
    }
    Awaitility.await("answered")
        .until(
            () ->
                events.all(EntryUpdateAnswered.class).size() == count
                    && otherEvents.all(EntryUpdateAnswered.class).size() == count);
    // Then
    for (RecordedEvents heard : List.of(events, otherEvents)) {
      assertThat(heard.all(EntryUpdateAnswered.class))
          .extracting(EntryUpdateAnswered::outcome)
          .containsOnly(EntryUpdate.Outcome.DONE);
    }
    assertThat(details().ask()).isPresent();
    assertThat(details().metadata()).containsKey("round");
    // Each was written, or found what it wants there already.
    assertThat(stat().getVersion()).isBetween(2, 2 * count);
  }

  @Test
  void limitsThatTwoCoordinatorsSetAtTheSameTimeLeaveOneThatCounts() throws Exception {
    // When
    int count = 20;
    for (int i = 1; i <= count; i++) {
      store.setLimit(new StoreEffect.SetLimit(i, LOCK, OptionalInt.of(100 + i), AccountTag.NOBODY));
      other.setLimit(new StoreEffect.SetLimit(i, LOCK, OptionalInt.of(200 + i), AccountTag.NOBODY));
    }
    Awaitility.await("answered")
        .until(
            () ->
                events.all(LimitAnswered.class).size() == count
                    && otherEvents.all(LimitAnswered.class).size() == count);
    store.setLimit(new StoreEffect.SetLimit(1_000, LOCK, OptionalInt.of(9), AccountTag.NOBODY));
    LimitAnswered last = events.await(LimitAnswered.class, e -> e.change() == 1_000);
    // Then
    assertThat(events.all(LimitAnswered.class)).allMatch(LimitAnswered::done);
    assertThat(otherEvents.all(LimitAnswered.class)).allMatch(LimitAnswered::done);
    assertThat(last.done()).isTrue();
    assertThat(truth.getChildren("/lk/locks/a", false))
        .filteredOn(name -> name.startsWith("limit-"))
        .singleElement()
        .asString()
        .startsWith("limit-9-");
  }
}
