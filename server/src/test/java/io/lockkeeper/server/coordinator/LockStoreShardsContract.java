package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.core.api.ShardEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.shard.Shard;
import io.lockkeeper.server.core.shard.ShardRecord;
import io.lockkeeper.server.core.shard.ShardTable;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What every store does with the table of shards. */
public abstract class LockStoreShardsContract {

  private long numbers;

  /** What hears the store. */
  protected final RecordedEvents events = new RecordedEvents();

  /** Returns a store that has been started with {@link #events}, and has no table yet. */
  protected abstract LockStore store();

  /** Returns a table with something of everything. */
  protected static ShardRecord record(long version) {
    TreeMap<String, Shard> shards = new TreeMap<>();
    shards.put("a", new Shard("a", List.of("a1:7420", "[::1]:7420"), true, 0));
    shards.put("b-2", new Shard("b-2", List.of("b:7420"), false, 400_000));
    return new ShardRecord(
        "a",
        new ShardTable(
            version,
            "b-2",
            shards,
            new TreeMap<>(
                Map.of(
                    "orders", new ShardTable.Placed("a", 17),
                    "träger \"x\"", new ShardTable.Placed("b-2", 0))),
            new TreeMap<>(Map.of("orders", "b-2")),
            "b-2",
            "service-1"));
  }

  private ShardEvent.Answered set(long expected, ShardRecord record) {
    long number = ++numbers;
    store().setShards(new StoreEffect.SetShards(number, expected, record));
    return events.await(ShardEvent.Answered.class, answered -> answered.number() == number);
  }

  private ShardEvent.Read awaitRead(ShardRecord record) {
    return events.await(ShardEvent.Read.class, read -> read.record().equals(Optional.of(record)));
  }

  @Test
  void tableIsToldAsItWasWrittenBehindThatItHasChanged() {
    // Given
    events.awaitCurrent();
    // When
    ShardEvent.Answered answered = set(0, record(1));
    // Then
    ShardEvent.Read read = awaitRead(record(1));
    assertThat(answered.outcome()).isEqualTo(ShardEvent.Outcome.DONE);
    assertThat(read.zxid()).isEqualTo(answered.zxid()).isPositive();
    assertThat(events.all(ShardEvent.class))
        .containsSubsequence(
            new ShardEvent.Read(Optional.of(ShardRecord.NONE), 0), new ShardEvent.Changed(), read);
  }

  @Test
  void tableIsReplacedOnlyIfItIsTheOneThatWasExpected() {
    // Given
    events.awaitCurrent();
    set(0, record(1));
    // When
    ShardEvent.Answered stale = set(0, record(5));
    ShardEvent.Answered done = set(1, record(2));
    ShardEvent.Answered again = set(1, record(2));
    // Then: who repeats what was done is told that it is done
    assertThat(stale.outcome()).isEqualTo(ShardEvent.Outcome.CHANGED);
    assertThat(done.outcome()).isEqualTo(ShardEvent.Outcome.DONE);
    assertThat(again).isEqualTo(new ShardEvent.Answered(4, ShardEvent.Outcome.DONE, done.zxid()));
    awaitRead(record(2));
    assertThat(events.all(ShardEvent.Read.class))
        .noneMatch(read -> read.record().equals(Optional.of(record(5))));
  }
}
