package io.lockkeeper.server.core.simulation;

/**
 * How ZooKeeper's leader hears of one session over one coordinator's connections to it: at once
 * where that is a connection to the leader itself, and otherwise when the follower answers its next
 * PING. A follower that is lost keeps what it has heard to itself for ever. Whoever connects is
 * heard at once, since the leader is asked whether the session lives.
 */
final class SimTouches {

  /** Half a tick between two PINGs, and a quarter for those that are late. */
  static final long MOST_LAG = Sim.SECOND * 3 / 2;

  private static final long PING_INTERVAL = SimConnection.TIMEOUT / 3;

  private final Sim sim;
  private final SimCoordinator coordinator;
  private final SimSession session;
  private boolean behindFollower;
  private boolean reporting;
  private boolean up;
  private int connections;

  SimTouches(Sim sim, SimCoordinator coordinator, SimSession session) {
    this.sim = sim;
    this.coordinator = coordinator;
    this.session = session;
  }

  /** A connection is there. */
  void connect() {
    int connection = ++connections;
    up = true;
    reporting = false;
    behindFollower = sim.losesServers || sim.chance(75);
    session.touch(sim);
    ping(connection);
  }

  /** As ZooKeeper's client does, which says something when it has been silent for long. */
  private void ping(int connection) {
    if (up && connection == connections) {
      if (!coordinator.isPaused()) {
        heard();
      }
      sim.after(PING_INTERVAL, () -> ping(connection));
    }
  }

  /** Something of the session arrives at the server. */
  void heard() {
    if (!behindFollower) {
      session.touch(sim);
    } else if (!reporting) {
      reporting = true;
      int connection = connections;
      sim.after(1 + (long) (sim.random.nextDouble() * MOST_LAG), () -> report(connection));
    }
  }

  private void report(int connection) {
    if (connection == connections) {
      reporting = false;
      session.touch(sim);
    }
  }

  /** The connection is lost, perhaps because the follower is. */
  void lose() {
    up = false;
    if (sim.losesServers || sim.chance(50)) {
      connections++;
    }
  }
}
