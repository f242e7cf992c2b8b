package io.lockkeeper.integration.failover;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;

/**
 * How fast a cluster's clocks run.
 *
 * @param tick ZooKeeper's tickTime
 * @param syncLimit ZooKeeper's syncLimit, in ticks
 * @param lockSession the timeout of the sessions that own locks
 * @param memberSession the timeout of the session that says that a coordinator lives
 * @param fsync whether ZooKeeper waits for its disk, as it does in production
 */
public record Pace(
    Duration tick, int syncLimit, Duration lockSession, Duration memberSession, boolean fsync) {

  /** Sessions that survive a busy machine, and whose end a test can still wait for. */
  public static final Pace QUICK =
      new Pace(Duration.ofMillis(500), 4, Duration.ofSeconds(20), Duration.ofSeconds(5), false);

  /** The defaults, as they are in production. */
  public static final Pace PRODUCTION =
      new Pace(Duration.ofSeconds(2), 5, Duration.ofSeconds(30), Duration.ofSeconds(6), true);

  /** Returns the flags that tell a coordinator. */
  public List<String> flags() {
    List<String> flags = new ArrayList<>();
    flags.add("--zookeeper-tick-time=" + tick.toMillis() + "ms");
    flags.add("--zookeeper-sync-limit=" + syncLimit);
    flags.add("--lock-session-timeout=" + lockSession.toMillis() + "ms");
    flags.add("--member-session-timeout=" + memberSession.toMillis() + "ms");
    return flags;
  }

  /** Waits for something that takes time and cannot be observed. */
  public static void letPass(Duration time) {
    Awaitility.await().pollDelay(time).atMost(time.plusMinutes(1)).until(() -> true);
  }
}
