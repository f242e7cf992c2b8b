package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.Whereabouts;
import io.lockkeeper.server.core.Amendment;
import io.lockkeeper.server.core.ErrandEvent.AmendmentAnswered;
import io.lockkeeper.server.core.ErrandEvent.LimitAnswered;
import io.lockkeeper.server.core.LeaseId;
import io.lockkeeper.server.core.LockName;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The errands that are under way, a bounded number. Lives on the store's thread. */
final class Errands {

  private static final int MAX_UNDER_WAY = 10_000;

  private final StoreContext context;
  private final Supplier<Optional<Handle>> connection;
  private int underWay;

  /** Runs errands over whatever handle {@code connection} gives at the time. */
  Errands(StoreContext context, Supplier<Optional<Handle>> connection) {
    this.context = context;
    this.connection = connection;
  }

  /** Changes an entry. */
  void amend(long number, LockName lock, String entry, Amendment amendment) {
    start(
        new EntryAmendment(
            context,
            connection,
            () -> underWay--,
            context.paths().entry(lock, entry),
            amendment,
            outcome -> context.events().accept(new AmendmentAnswered(number, outcome))));
  }

  /** Sets a lock's limit. */
  void setLimit(long number, LockName lock, OptionalInt limit) {
    start(
        new LimitWriting(
            context,
            connection,
            () -> underWay--,
            lock,
            limit,
            done -> context.events().accept(new LimitAnswered(number, done))));
  }

  /** Finds out who serves a lease. */
  void locate(LeaseId lease, Peers peers, Consumer<Optional<Whereabouts>> answer) {
    start(new LeaseSearch(context, connection, () -> underWay--, lease, peers, answer));
  }

  private void start(Errand errand) {
    if (underWay >= MAX_UNDER_WAY) {
      errand.tellFailed();
    } else {
      underWay++;
      errand.start();
    }
  }
}
