package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.RetriedChange;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.member.Members;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The changes over the mirror's connection that are under way, a bounded number. Lives on the
 * store's thread.
 */
final class RetriedChanges {

  private static final int MAX_UNDER_WAY = 10_000;

  /** Less than the time in which each call of a client is answered. */
  private static final long LIMIT_MILLIS = 5_000;

  private final StoreContext context;
  private final Supplier<Optional<Handle>> connection;
  private int underWay;

  /** Runs changes over whatever handle {@code connection} gives at the time. */
  RetriedChanges(StoreContext context, Supplier<Optional<Handle>> connection) {
    this.context = context;
    this.connection = connection;
  }

  /** Changes an entry. */
  void update(StoreEffect.UpdateEntry effect) {
    start(new EntryDataWrite(context, connection, () -> underWay--, effect));
  }

  /** Sets a lock's limit. */
  void setLimit(StoreEffect.SetLimit effect) {
    start(new LimitWrite(context, connection, () -> underWay--, effect));
  }

  /** Freezes a prefix. */
  void setFreeze(StoreEffect.SetFreeze effect) {
    start(new FreezeWrite(context, connection, () -> underWay--, effect));
  }

  /** Takes a freeze back. */
  void removeFreeze(StoreEffect.RemoveFreeze effect) {
    start(new FreezeRemoval(context, connection, () -> underWay--, effect));
  }

  /** Takes a freeze back whose time is over. */
  void thaw(StoreEffect.Thaw effect) {
    start(new ThawByTime(context, connection, () -> underWay--, effect));
  }

  /** Finds out who serves a lease. */
  void locate(LeaseId lease, Members members, Consumer<Optional<LeaseLocation>> answer) {
    start(new LeaseSearch(context, connection, () -> underWay--, lease, members, answer));
  }

  private void start(RetriedChange change) {
    underWay++;
    if (underWay > MAX_UNDER_WAY) {
      change.fail();
    } else {
      change.start(LIMIT_MILLIS);
    }
  }
}
