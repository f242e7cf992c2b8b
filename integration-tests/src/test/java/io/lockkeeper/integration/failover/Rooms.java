package io.lockkeeper.integration.failover;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Who is inside which lock. Somebody who was not told that a lock is lost is inside for as long as
 * he may believe that he holds it, and no longer. What goes wrong is kept, to be asked for.
 */
public final class Rooms {

  private record Guest(long token, boolean shared, BooleanSupplier believes) {}

  private final Map<String, List<Guest>> rooms = new HashMap<>();
  private final Map<String, Long> highestTokens = new HashMap<>();
  private final Map<String, Long> exclusiveTokens = new HashMap<>();
  private final List<String> violations = new ArrayList<>();
  private long entered;
  private long strangers;

  /** Enters, after the grant has come. */
  synchronized void enter(String lock, boolean shared, long token, BooleanSupplier believes) {
    entered++;
    join(lock, new Guest(token, shared, believes));
    // Readers may hear of their grants in any order; who excludes comes after all before him.
    long floor = (shared ? exclusiveTokens : highestTokens).getOrDefault(lock, 0L);
    if (token <= floor) {
      violations.add(lock + ": token " + token + " after " + floor);
    }
    highestTokens.merge(lock, token, Math::max);
    if (!shared) {
      exclusiveTokens.put(lock, token);
    }
  }

  /** Lets somebody in, alone, who knows no token; returns what it leaves with. */
  public synchronized long enterWithoutToken(String lock, BooleanSupplier believes) {
    long number = - ++strangers;
    join(lock, new Guest(number, false, believes));
    return number;
  }

  private void join(String lock, Guest newcomer) {
    List<Guest> inside = rooms.computeIfAbsent(lock, name -> new ArrayList<>());
    inside.removeIf(guest -> !guest.believes().getAsBoolean());
    for (Guest guest : inside) {
      if (!(newcomer.shared() && guest.shared())) {
        violations.add(
            lock + ": " + newcomer.token() + " entered while " + guest.token() + " was inside");
      }
    }
    inside.add(newcomer);
  }

  /** Leaves, before the release is sent or when the lock was lost; does nothing if he has left. */
  public synchronized void leave(String lock, long token) {
    rooms.getOrDefault(lock, new ArrayList<>()).removeIf(guest -> guest.token() == token);
  }

  /** Returns what was wrong. */
  synchronized List<String> violations() {
    return List.copyOf(violations);
  }

  /** Returns how often anybody entered. */
  synchronized long entered() {
    return entered;
  }
}
