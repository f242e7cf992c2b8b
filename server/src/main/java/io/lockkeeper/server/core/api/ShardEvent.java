package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.shard.ShardRecord;
import java.util.Optional;

/**
 * Something about the table of shards. The mirror's arrive in ZooKeeper's order with its other
 * events, so that whose entry was created after a change is seen after the change.
 */
public sealed interface ShardEvent extends StoreEvent {

  /** The table has changed; what it says now follows. */
  record Changed() implements ShardEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onShardsChanged(this);
    }
  }

  /**
   * The table was read: because it has changed, or as part of each rebuild of the mirror.
   *
   * @param record what it says; empty: nobody here can read it
   * @param zxid the transaction that wrote it, zero where there is none
   */
  record Read(Optional<ShardRecord> record, long zxid) implements ShardEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onShardsRead(this);
    }
  }

  /**
   * The table was replaced, or was not.
   *
   * @param number the change's number
   * @param outcome what came of it
   * @param zxid DONE: the transaction that wrote it
   */
  record Answered(long number, Outcome outcome, long zxid) implements ShardEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onShardsAnswered(this);
    }
  }

  /** What came of a change. */
  enum Outcome {
    /** It is made. */
    DONE,
    /** The table that is there is another one than expected. */
    CHANGED,
    /** It is not certain whether it is made. */
    FAILED
  }
}
