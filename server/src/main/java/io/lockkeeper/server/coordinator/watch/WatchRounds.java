package io.lockkeeper.server.coordinator.watch;

import io.lockkeeper.server.coordinator.api.WatchedChange;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Tells the watchers what has changed, in rounds: each round has one window of changes, the same
 * for all. A round is cut into slices, between which others may work. On the watchers' thread only.
 */
public final class WatchRounds {

  private final Set<Watch> watches = new LinkedHashSet<>();
  private final Set<Watch> woken = new LinkedHashSet<>();
  private final Deque<Watch> round = new ArrayDeque<>();
  private WatchWindow gathering = new WatchWindow();
  private boolean overflown;
  private Collection<WatchedChange> told = List.of();

  public void add(Watch watch) {
    watches.add(watch);
  }

  void remove(Watch watch) {
    watches.remove(watch);
    woken.remove(watch);
  }

  /** Has a watch that can take something looked at. */
  public void wake(Watch watch) {
    if (watches.contains(watch)) {
      woken.add(watch);
    }
  }

  /** Takes changes for the next round. */
  public void changed(List<WatchedChange> changes) {
    if (!watches.isEmpty()) {
      changes.forEach(gathering::add);
    }
  }

  /** Begins all watches again. */
  void gap(String reason) {
    gathering = new WatchWindow();
    round.clear();
    List.copyOf(watches).forEach(watch -> watch.restart(reason));
  }

  public boolean hasWork() {
    return !woken.isEmpty() || !round.isEmpty() || !gathering.isEmpty();
  }

  /** Does part of what is to be done: about {@code messages} of it. */
  public void slice(int messages) {
    int sent = 0;
    while (sent < messages && hasWork()) {
      Iterator<Watch> first = woken.iterator();
      if (first.hasNext()) {
        Watch watch = first.next();
        first.remove();
        sent += 1 + watch.pump();
      }
      if (round.isEmpty() && !gathering.isEmpty()) {
        startRound();
      }
      Watch next = round.pollFirst();
      if (next != null && watches.contains(next)) {
        sent += 1 + tell(next);
      }
    }
  }

  private void startRound() {
    WatchWindow window = gathering;
    gathering = new WatchWindow();
    round.addAll(watches);
    overflown = window.isOverflown();
    told = window.forWatchers(watches.size());
  }

  private int tell(Watch watch) {
    if (overflown) {
      watch.restart("more locks changed at once than a coordinator keeps for its watchers");
      return 1;
    }
    return watch.offerAll(told);
  }
}
