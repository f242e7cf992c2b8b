package io.lockkeeper.server.core;

import java.time.Duration;
import java.util.Map;

/**
 * Keeps nodes that are gone for certain out of the mirror, which may still hear that they appeared.
 * What the watch had told before they were kept out it does not tell again, so that a barrier ends
 * it: after that the mirror has heard all.
 */
final class Suppressions {

  private static final long FORGET_NANOS = Duration.ofSeconds(5).toNanos();

  private final World world;
  private final Barriers barriers;
  private boolean armed;

  Suppressions(World world, Barriers barriers) {
    this.world = world;
    this.barriers = barriers;
  }

  /** A node is gone for certain: see {@link Mirror#suppress}. */
  void suppress(LockName lock, String node, long czxid) {
    world.mirror.suppress(lock, node, czxid);
    arm();
  }

  private void arm() {
    if (!armed) {
      armed = true;
      world.timers.at(
          world.now + FORGET_NANOS,
          () -> {
            armed = false;
            forgetAfterBarrier();
          });
    }
  }

  /** Keeps nothing out any more that is kept out now, when the mirror has heard all of it. */
  void forgetAfterBarrier() {
    Map<NodeKey, Long> nodes = world.mirror.suppressed();
    if (!nodes.isEmpty()) {
      barriers.pass(
          passed -> {
            if (passed) {
              world.mirror.stopSuppressing(nodes);
            }
            if (!world.mirror.suppressed().isEmpty()) {
              arm();
            }
          });
    }
  }
}
