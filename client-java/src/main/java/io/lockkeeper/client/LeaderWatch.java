package io.lockkeeper.client;

import java.util.List;
import java.util.Optional;

/** Makes of what happens to an election's lock who leads. One call at a time. */
final class LeaderWatch implements WatchListener {

  private final LeaderObserver observer;
  private Optional<Leader> seen = Optional.empty();
  private Optional<Leader> told = Optional.empty();
  private boolean toldAny;

  LeaderWatch(LeaderObserver observer) {
    this.observer = observer;
  }

  /** Returns who leads; empty: nobody. */
  static Optional<Leader> leader(List<Contender> holders) {
    return holders.stream()
        .findFirst()
        .map(
            holder ->
                new Leader(
                    holder.metadata().getOrDefault(LeaderElection.VALUE, ""),
                    holder.holder(),
                    holder.leaseTag(),
                    holder.fencingToken().orElse(0)));
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
    seen = leader(lock.holders());
  }

  @Override
  public void onSnapshotEnd() {
    tell(seen);
    seen = Optional.empty();
  }

  @Override
  public void onChange(LockChange change) {
    tell(leader(change.holders()));
  }

  @Override
  public void onGap(String reason) {
    seen = Optional.empty();
    observer.onGap(reason);
  }

  @Override
  public void onFailed(LockkeeperException why) {
    observer.onFailed(why);
  }
}
