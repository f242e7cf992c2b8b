package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.queue.Mirror;
import io.lockkeeper.server.core.state.CoreState;
import java.time.Duration;
import java.util.Map;

/**
 * Keeps nodes that are gone for certain out of the mirror, which may still hear that they appeared.
 * What the watch had told before they were kept out it does not tell again, so that a barrier ends
 * it: after that the mirror has heard all.
 */
public final class Suppressions {

  private static final long FORGET_NANOS = Duration.ofSeconds(5).toNanos();

  private final CoreState core;
  private final Barriers barriers;
  private boolean armed;

  public Suppressions(CoreState core, Barriers barriers) {
    this.core = core;
    this.barriers = barriers;
  }

  /** A node is gone for certain: see {@link Mirror#suppress}. */
  void suppress(LockName lock, String node, long czxid) {
    core.mirror.suppress(lock, node, czxid);
    arm();
  }

  private void arm() {
    if (!armed) {
      armed = true;
      core.timers.at(
          core.now + FORGET_NANOS,
          () -> {
            armed = false;
            forgetAfterBarrier();
          });
    }
  }

  /** Keeps nothing out any more that is kept out now, when the mirror has heard all of it. */
  public void forgetAfterBarrier() {
    Map<NodeKey, Long> nodes = core.mirror.suppressed();
    if (!nodes.isEmpty()) {
      barriers.pass(
          passed -> {
            if (passed) {
              core.mirror.stopSuppressing(nodes);
            }
            if (!core.mirror.suppressed().isEmpty()) {
              arm();
            }
          });
    }
  }
}
