package io.lockkeeper.server.coordinator.watch;

import io.lockkeeper.server.coordinator.api.WatchedChange;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Tells the watchers what has changed, in rounds: each round has what was gathered since the last
 * one, the same for all; all of it where that is few messages, else the newest of each lock. A
 * round is cut into slices, between which others may work. On the watchers' thread only.
 */
final class WatchRounds {

  /** How many locks may be gathered; beyond that watchers begin again with a snapshot. */
  static final int MAX_LOCKS = 65_536;

  /** How many messages a round may have for all watchers together, if it is to tell all changes. */
  private static final int MAX_EXACT = 1_024;

  private final Set<Watch> watches = new LinkedHashSet<>();
  private final Set<Watch> woken = new LinkedHashSet<>();
  private final Deque<Watch> round = new ArrayDeque<>();
  private Collection<WatchedChange> told = List.of();
  private List<WatchedChange> gathered = new ArrayList<>();
  private NewestChanges newest = new NewestChanges();

  void add(Watch watch) {
    watches.add(watch);
  }

  void remove(Watch watch) {
    watches.remove(watch);
    woken.remove(watch);
  }

  /** Has a watch that can take something looked at. */
  void wake(Watch watch) {
    if (watches.contains(watch)) {
      woken.add(watch);
    }
  }

  /** Takes changes for the next round. */
  void changed(List<WatchedChange> changes) {
    if (watches.isEmpty()) {
      return;
    }
    for (WatchedChange change : changes) {
      // One more than are ever told says that there are too many.
      if (gathered.size() <= MAX_EXACT) {
        gathered.add(change);
      }
      newest.add(change);
    }
    if (newest.size() > MAX_LOCKS) {
      gap("more locks changed at once than a coordinator keeps for its watchers");
    }
  }

  /** Begins all watches again. */
  void gap(String reason) {
    gatherAnew();
    round.clear();
    List.copyOf(watches).forEach(watch -> watch.restart(reason));
  }

  private void gatherAnew() {
    gathered = new ArrayList<>();
    newest = new NewestChanges();
  }

  boolean hasWork() {
    return !woken.isEmpty() || !round.isEmpty() || !newest.isEmpty();
  }

  /** Does part of what is to be done: about {@code messages} of it. */
  void slice(int messages) {
    int sent = 0;
    while (sent < messages && hasWork()) {
      Iterator<Watch> first = woken.iterator();
      if (first.hasNext()) {
        Watch watch = first.next();
        first.remove();
        sent += 1 + watch.pump();
        if (round.isEmpty() && newest.isEmpty()) {
          watch.caughtUp();
        }
      }
      if (round.isEmpty() && !newest.isEmpty()) {
        startRound();
      }
      Watch next = round.pollFirst();
      if (next != null && watches.contains(next)) {
        sent += 1 + next.offerAll(told);
      }
    }
  }

  private void startRound() {
    round.addAll(watches);
    told = gathered.size() * watches.size() <= MAX_EXACT ? gathered : newest.all();
    gatherAnew();
  }
}
