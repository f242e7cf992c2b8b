package io.lockkeeper.server.core.simulation;

/** One coordinator's member node: it is there while its short session lives. */
final class SimMember {

  /** Much shorter than that of lock sessions. */
  static final long TIMEOUT = 2 * Sim.SECOND;

  private final Sim sim;
  private final SimCoordinator coordinator;
  private int epoch;
  private boolean left;

  SimMember(Sim sim, SimCoordinator coordinator) {
    this.sim = sim;
    this.coordinator = coordinator;
  }

  void start() {
    epoch++;
    list(true);
  }

  /** The node's session is not heard of for a while, or not any more. */
  void cut(long back) {
    vanishUnlessBack();
    int cutIn = epoch;
    sim.after(back, () -> coordinator.take(() -> comeBack(cutIn)));
  }

  /** The process stands still or is gone. */
  void vanishUnlessBack() {
    epoch++;
    int goneIn = epoch;
    sim.after(
        TIMEOUT,
        () -> {
          if (epoch == goneIn) {
            list(false);
          }
        });
  }

  private void comeBack(int cutIn) {
    if (epoch == cutIn) {
      start();
    }
  }

  /** The coordinator takes its node away. */
  void leave() {
    left = true;
    epoch++;
    list(false);
  }

  private void list(boolean there) {
    boolean changed =
        (there && !left) ? sim.members.add(coordinator) : sim.members.remove(coordinator);
    if (changed) {
      sim.coordinators.forEach(peer -> peer.peers.onMembersChanged());
    }
  }
}
