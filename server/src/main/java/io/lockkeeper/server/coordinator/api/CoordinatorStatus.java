package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.api.QueueExtremes;
import java.util.ArrayList;
import java.util.List;

/**
 * How a coordinator is.
 *
 * @param failed whether its state is in doubt, so that it does nothing any more
 * @param draining whether it hands over what it serves, or has
 * @param mirrorCurrent whether the mirror is whole, so that grants can be made
 * @param sessions the lock sessions
 * @param leases how many leases are open
 * @param acquisitions how many acquisitions are waiting or held
 * @param held how many of them are held
 * @param locks how many locks are in use
 * @param entries how many entries the mirror has
 * @param watches how many watches are open
 * @param streams how many streams hear of acquisitions and leases
 * @param deletesOwed how many acquisitions have entries whose deletion is not certain yet
 * @param loopDelayNanos how long the event loop's last event had waited
 * @param store what is wrong with the nodes in ZooKeeper
 * @param extremes the longest queue, hold and wait, some seconds ago at most
 * @param coordinators how many coordinators there are, this one included, as far as it knows
 */
public record CoordinatorStatus(
    boolean failed,
    boolean draining,
    boolean mirrorCurrent,
    List<SessionStatus> sessions,
    int leases,
    int acquisitions,
    int held,
    int locks,
    int entries,
    int watches,
    int streams,
    int deletesOwed,
    long loopDelayNanos,
    StoreHealth store,
    QueueExtremes extremes,
    int coordinators) {

  // With many names held there are dozens, and mostly they fare alike.
  private static final int MOST_SESSIONS_NAMED = 3;

  /**
   * One lock session.
   *
   * @param name its name in logs
   * @param provenAlive whether its bound has not run out
   * @param connected whether it is connected
   * @param pathBytes the bytes of the paths that it owns
   * @param leases how many leases live on it
   */
  public record SessionStatus(
      String name, boolean provenAlive, boolean connected, long pathBytes, int leases) {

    /** Returns whether leases on it can be renewed and locks released now. */
    public boolean usable() {
      return provenAlive && connected;
    }

    private String inWords() {
      return "lock session "
          + name
          + (connected
              ? " is connected but not proved alive by a quorum write"
              : " is not connected to ZooKeeper");
    }
  }

  /** Returns the same of a coordinator that has failed since. */
  public CoordinatorStatus afterFailure() {
    return new CoordinatorStatus(
        true,
        draining,
        mirrorCurrent,
        sessions,
        leases,
        acquisitions,
        held,
        locks,
        entries,
        watches,
        streams,
        deletesOwed,
        loopDelayNanos,
        store,
        extremes,
        coordinators);
  }

  /**
   * Returns whether requests for locks can be served now: the coordinator has not failed, the
   * mirror is whole, a session is proven and connected, and ZooKeeper lets us write.
   */
  public boolean serving() {
    return !draining && mirrorCurrent && sessionUsable() && store.refusal().isEmpty();
  }

  /**
   * Returns whether leases can be renewed and locks released now, though perhaps none granted: the
   * coordinator has not failed, and a session is proven and connected.
   */
  public boolean sessionUsable() {
    return !failed && sessions.stream().anyMatch(SessionStatus::usable);
  }

  /**
   * Returns what keeps requests for locks from being served, human-readable; empty exactly when
   * they are {@link #serving}.
   */
  public List<String> impediments() {
    if (failed) {
      return List.of("the coordinator's state is in doubt: it does nothing any more");
    }
    if (draining) {
      return List.of("drained: the coordinator hands over what it serves, or has");
    }
    List<String> impediments = new ArrayList<>(store.refusal().stream().toList());
    if (!mirrorCurrent) {
      impediments.add(
          "the mirror of the queues is not whole: no connection to ZooKeeper, or it is being rebuilt");
    }
    if (sessions.isEmpty()) {
      impediments.add("no lock session is open in ZooKeeper yet");
    } else if (sessions.stream().noneMatch(SessionStatus::usable)) {
      sessions.stream()
          .limit(MOST_SESSIONS_NAMED)
          .forEach(session -> impediments.add(session.inWords()));
      if (sessions.size() > MOST_SESSIONS_NAMED) {
        int others = sessions.size() - MOST_SESSIONS_NAMED;
        impediments.add(others + " more lock sessions are not usable either");
      }
    }
    return List.copyOf(impediments);
  }
}
