package io.lockkeeper.server.memory;

import io.lockkeeper.server.core.api.ShardEvent;
import io.lockkeeper.server.core.api.ShardEvent.Outcome;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.shard.ShardRecord;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** The table of shards of an {@link InMemoryCluster}: tells what the mirror sees. */
final class InMemoryShards {

  private final Consumer<StoreEvent> events;
  private final LongSupplier nextZxid;
  private ShardRecord record = ShardRecord.NONE;
  private long zxid;

  InMemoryShards(Consumer<StoreEvent> events, LongSupplier nextZxid) {
    this.events = events;
    this.nextZxid = nextZxid;
  }

  ShardEvent.Answered set(StoreEffect.SetShards effect) {
    boolean done = record.equals(effect.record());
    if (!done && record.table().version() == effect.expectedVersion()) {
      record = effect.record();
      zxid = nextZxid.getAsLong();
      events.accept(new ShardEvent.Changed());
      events.accept(read());
      done = true;
    }
    return new ShardEvent.Answered(
        effect.number(), done ? Outcome.DONE : Outcome.CHANGED, done ? zxid : 0);
  }

  /** Returns what it says. */
  ShardEvent.Read read() {
    return new ShardEvent.Read(Optional.of(record), zxid);
  }
}
