package io.lockkeeper.integration.demo;

import io.lockkeeper.client.Contender;
import io.lockkeeper.client.LockChange;
import io.lockkeeper.client.WatchListener;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What somebody who only watches sees of the queue. */
final class QueueView implements WatchListener {

  private final Set<String> arrivals = new LinkedHashSet<>();
  private final Map<String, Long> grants = new LinkedHashMap<>();
  private String holder = "";
  private int length;
  private int longest;

  @Override
  public synchronized void onChange(LockChange change) {
    length = change.queueLength();
    longest = Math.max(longest, length);
    holder = change.holders().stream().map(Contender::holder).findFirst().orElse("");
    change.contender().map(Contender::entry).ifPresent(arrivals::add);
    change
        .holders()
        .forEach(held -> grants.putIfAbsent(held.entry(), held.fencingToken().orElse(0)));
  }

  synchronized String holder() {
    return holder;
  }

  synchronized int length() {
    return length;
  }

  synchronized int longest() {
    return longest;
  }

  /** Returns how many grants were seen in the order in which their entries had joined the queue. */
  synchronized int inOrder() {
    List<String> came = new ArrayList<>(arrivals);
    List<String> got = new ArrayList<>(grants.keySet());
    came.retainAll(grants.keySet());
    int same = 0;
    for (int i = 0; i < got.size() && i < came.size(); i++) {
      if (came.get(i).equals(got.get(i))) {
        same++;
      }
    }
    return same;
  }

  synchronized int grants() {
    return grants.size();
  }

  /** Returns the fencing tokens in the order of the grants. */
  synchronized List<Long> tokens() {
    return List.copyOf(grants.values());
  }

  /** Returns whether every grant had a higher token than the one before. */
  synchronized boolean tokensRise() {
    List<Long> tokens = tokens();
    for (int i = 1; i < tokens.size(); i++) {
      if (tokens.get(i) <= tokens.get(i - 1)) {
        return false;
      }
    }
    return true;
  }
}
