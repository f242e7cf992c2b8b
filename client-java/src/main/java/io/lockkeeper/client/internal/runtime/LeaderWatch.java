package io.lockkeeper.client.internal.runtime;

import io.lockkeeper.client.Contender;
import io.lockkeeper.client.Leader;
import io.lockkeeper.client.LeaderObserver;
import io.lockkeeper.client.LockChange;
import io.lockkeeper.client.LockInfo;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.WatchListener;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Derives from the changes of an election's lock who leads. A server may not have read the metadata
 * or the token of an entry that another server serves: then the lock is looked up, which makes the
 * server read it. Whoever's token nobody knows is not told as the leader. On the callback executor
 * only, one call at a time.
 */
public final class LeaderWatch implements WatchListener {

  /** The metadata key of a candidate's value. */
  public static final String VALUE = "leader";

  private final LeaderObserver observer;
  private final Supplier<CompletableFuture<LockInfo>> lookup;
  private Optional<Contender> first = Optional.empty();
  private Optional<Leader> told = Optional.empty();
  private boolean toldAny;
  private long seen;

  /** Nobody wants to hear anything more. Any thread. */
  private volatile boolean closed;

  public LeaderWatch(LeaderObserver observer, Supplier<CompletableFuture<LockInfo>> lookup) {
    this.observer = observer;
    this.lookup = lookup;
  }

  /** Tells nothing more, also of lookups under way. */
  public void close() {
    closed = true;
  }

  /** Returns who leads; empty: nobody, or nobody whose token is known. */
  public static Optional<Leader> leader(List<Contender> holders) {
    return holders.stream()
        .findFirst()
        .filter(holder -> holder.fencingToken().isPresent())
        .map(
            holder ->
                new Leader(
                    holder.metadata().getOrDefault(VALUE, ""),
                    holder.holder(),
                    holder.leaseTag(),
                    holder.fencingToken().orElseThrow()));
  }

  private void see(Optional<Contender> holder) {
    long number = ++seen;
    if (holder.isEmpty() || isKnown(holder.get())) {
      tell(leader(holder.stream().toList()));
      return;
    }
    CompletableFuture<LockInfo> unused =
        lookup
            .get()
            .whenComplete(
                (lock, failure) -> {
                  // What came meanwhile is newer; and another leader's election will be told.
                  if (number == seen && !closed) {
                    tell(
                        leader(
                            failure == null
                                ? described(lock, holder.get())
                                : holder.stream().toList()));
                  }
                });
  }

  private static boolean isKnown(Contender holder) {
    return holder.metadata().containsKey(VALUE) && holder.fencingToken().isPresent();
  }

  private static List<Contender> described(LockInfo lock, Contender holder) {
    return List.of(
        lock.holders().stream()
            .filter(candidate -> candidate.entry().equals(holder.entry()))
            .findFirst()
            .orElse(holder));
  }

  private void tell(Optional<Leader> now) {
    if (!toldAny || !now.equals(told)) {
      toldAny = true;
      told = now;
      observer.onLeader(now);
    }
  }

  @Override
  public void onSnapshot(LockInfo lock) {
    first = lock.holders().stream().findFirst();
  }

  @Override
  public void onSnapshotEnd() {
    see(first);
    first = Optional.empty();
  }

  @Override
  public void onChange(LockChange change) {
    see(change.holders().stream().findFirst());
  }

  @Override
  public void onGap(String reason) {
    seen++;
    first = Optional.empty();
    observer.onGap(reason);
  }

  @Override
  public void onFailed(LockkeeperException why) {
    seen++; // A lookup that is under way must not tell anything after this.
    observer.onFailed(why);
  }
}
