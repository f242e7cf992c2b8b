package io.lockkeeper.integration.chaos;

import java.util.List;
import java.util.stream.Stream;

/**
 * One kind of fault.
 *
 * @param kind its name in histories
 * @param victim who suffers it
 * @param count how many of them at once
 * @param minMillis how long it lasts at least
 * @param maxMillis how long it lasts at most
 * @param action does it, lasts as long as the stage says, and undoes it
 */
record Fault(String kind, Victim victim, int count, long minMillis, long maxMillis, Action action) {

  /** Who may suffer. */
  enum Victim {
    COORDINATOR,
    LEADER,
    FOLLOWER,
    /** So many servers of the ensemble, whichever. */
    ENSEMBLE,
    CLIENTS
  }

  /** What is done. */
  interface Action {
    /** Does it and undoes it, also when interrupted. */
    void on(Stage stage) throws InterruptedException;
  }

  /** Returns every kind, or those that are named. */
  static List<Fault> named(List<String> kinds) {
    List<Fault> all =
        Stream.of(CoordinatorFaults.ALL, ZooKeeperFaults.ALL, ClientFaults.ALL)
            .flatMap(List::stream)
            .toList();
    for (String kind : kinds) {
      if (all.stream().noneMatch(fault -> fault.kind().equals(kind))) {
        throw new IllegalArgumentException("no such fault: " + kind);
      }
    }
    return kinds.isEmpty()
        ? all
        : all.stream().filter(fault -> kinds.contains(fault.kind())).toList();
  }
}
