package io.lockkeeper.client.internal.views;

import io.lockkeeper.client.LockHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The grants of permits that the users of a semaphore have taken and not released. A grant goes
 * back as a whole: the server knows it by one entry.
 */
public final class PermitPool {

  private static final int NONE = -1;

  private final String name;
  private final List<Taken> taken = new ArrayList<>();

  private record Taken(LockHandle handle, int permits, String owner) {}

  public PermitPool(String name) {
    this.name = name;
  }

  /** Adds a grant to the calling thread. */
  public synchronized void add(LockHandle handle, int permits) {
    taken.add(new Taken(handle, permits, ThreadOwners.ofCurrentThread()));
  }

  /**
   * Removes grants of exactly {@code permits} in all: one of that size or else several, the calling
   * thread's before others', the newest first.
   *
   * @throws IllegalStateException if there are none that add up
   */
  public synchronized List<LockHandle> remove(int permits) {
    List<Taken> candidates = candidates();
    int held = candidates.stream().mapToInt(Taken::permits).sum();
    if (permits > held) {
      throw new IllegalStateException(
          "cannot release " + permits + " permits of \"" + name + "\": " + held + " are taken");
    }
    List<Taken> chosen = choose(candidates, permits);
    if (chosen.isEmpty()) {
      throw new IllegalStateException(
          "cannot release "
              + permits
              + " permits of \""
              + name
              + "\": they were taken in grants of "
              + candidates.stream().map(Taken::permits).toList()
              + ", and a grant goes back as a whole");
    }
    taken.removeAll(chosen);
    return chosen.stream().map(Taken::handle).toList();
  }

  private List<Taken> candidates() {
    List<Taken> mine = new ArrayList<>();
    List<Taken> others = new ArrayList<>();
    String owner = ThreadOwners.ofCurrentThread();
    taken.forEach(grant -> (grant.owner().equals(owner) ? mine : others).add(grant));
    Collections.reverse(mine);
    Collections.reverse(others);
    mine.addAll(others);
    return mine;
  }

  private static List<Taken> choose(List<Taken> candidates, int permits) {
    return candidates.stream()
        .filter(grant -> grant.permits() == permits)
        .findFirst()
        .map(List::of)
        .orElseGet(() -> subset(candidates, permits));
  }

  /**
   * For each sum, remembers the candidate that first completed it; earlier ones make up the rest.
   */
  private static List<Taken> subset(List<Taken> candidates, int permits) {
    int[] madeBy = new int[permits + 1];
    Arrays.fill(madeBy, NONE);
    for (int i = 0; i < candidates.size() && madeBy[permits] == NONE; i++) {
      int size = candidates.get(i).permits();
      for (int sum = permits; sum >= size; sum--) {
        boolean reachable = sum == size || madeBy[sum - size] != NONE;
        if (madeBy[sum] == NONE && reachable) {
          madeBy[sum] = i;
        }
      }
    }
    List<Taken> chosen = new ArrayList<>();
    for (int rest = permits; rest > 0 && madeBy[permits] != NONE; ) {
      Taken grant = candidates.get(madeBy[rest]);
      chosen.add(grant);
      rest -= grant.permits();
    }
    return chosen;
  }
}
