package io.lockkeeper.server.zookeeper.record;

import java.time.Duration;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * How the store reaches ZooKeeper and what it expects of it.
 *
 * @param connectString {@code host:port,...}, without a chroot: the root path is given apart
 * @param rootPath where Lockkeeper keeps everything
 * @param locksPath where the queues are
 * @param times the timeouts of sessions, and ZooKeeper's own
 * @param member who this coordinator is
 * @param maxReplyBytes the longest reply that is accepted, such as the listing of a long queue
 * @param access how we and ZooKeeper prove who we are
 */
public record ZooKeeperSettings(
    String connectString,
    String rootPath,
    String locksPath,
    Times times,
    Member member,
    int maxReplyBytes,
    ZooKeeperAccess access) {

  // The list of all locks has the names of those in use, and of as many again that are not yet
  // removed: see CoreSettings.maxMirrorNameBytes.
  private static final int DEFAULT_MAX_REPLY_BYTES = 128 << 20;
  private static final Times DEFAULT_TIMES =
      new Times(Duration.ofSeconds(30), Duration.ofSeconds(6), Duration.ofSeconds(2), 5);

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if one cannot work; the message says which and why
   */
  public ZooKeeperSettings {
    require(!connectString.isBlank(), "the ZooKeeper connect string must not be empty");
    require(
        connectString.indexOf('/') < 0,
        "the ZooKeeper connect string must not have a path; give it as the root");
    requirePath(rootPath, "root path");
    requirePath(locksPath, "locks path");
    require(maxReplyBytes >= 1 << 20, "the longest reply must be at least 1 MiB");
  }

  /**
   * The timeouts of our sessions, and the clock of ZooKeeper's servers.
   *
   * @param sessionTimeout the timeout of lock sessions, which ZooKeeper must grant in full
   * @param memberTimeout the timeout of the member session
   * @param tick ZooKeeper's {@code tickTime}
   * @param syncLimit ZooKeeper's {@code syncLimit}, in ticks
   */
  public record Times(
      Duration sessionTimeout, Duration memberTimeout, Duration tick, int syncLimit) {

    private static final int SILENCES_PER_TIMEOUT = 6;
    private static final Duration SHORTEST_SILENCE = Duration.ofSeconds(2);

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if one cannot work; the message says which and why
     */
    public Times {
      require(!tick.isNegative() && !tick.isZero(), "the tick must be positive");
      require(syncLimit > 0, "the sync limit must be positive");
      Duration shortest = shortestSessionTimeout(tick, syncLimit);
      require(
          sessionTimeout.compareTo(shortest) > 0,
          "the session timeout must be above (syncLimit + 1) x tickTime = "
              + shortest.toMillis()
              + " ms, is "
              + sessionTimeout.toMillis()
              + " ms: shorter sessions expire in any stall of ZooKeeper's leader");
      require(
          !memberTimeout.isNegative() && !memberTimeout.isZero(),
          "the member timeout must be positive");
    }

    /**
     * Returns the time that a session timeout must be above: a leader may stall that long and stay
     * the leader.
     */
    public Duration shortestSessionTimeout() {
      return shortestSessionTimeout(tick, syncLimit);
    }

    /**
     * Returns for how long a server may leave a write unanswered, or an attempt to connect, before
     * another is tried: a sixth of the session timeout, for there may be several such servers.
     */
    public Duration longestSilence() {
      Duration part = sessionTimeout.dividedBy(SILENCES_PER_TIMEOUT);
      return part.compareTo(SHORTEST_SILENCE) < 0 ? SHORTEST_SILENCE : part;
    }

    private static Duration shortestSessionTimeout(Duration tick, int syncLimit) {
      return tick.multipliedBy(syncLimit + 1L);
    }
  }

  /**
   * Who a coordinator is to its peers.
   *
   * @param coordinatorId its name: a znode name
   * @param advertisedAddress where peers and clients reach it; asked when it registers
   * @param home what the coordinators that run one after the other on a data directory have in
   *     common, and no two at a time; empty without one
   */
  public record Member(String coordinatorId, Supplier<String> advertisedAddress, String home) {

    private static final Pattern COORDINATOR_ID =
        Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}");

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if one cannot work; the message says which and why
     */
    public Member {
      require(
          isCoordinatorId(coordinatorId),
          "the coordinator id must be made of letters, digits, '_', '-' and '.'");
    }

    /** Returns whether a coordinator may be called so: it is the name of its member node. */
    public static boolean isCoordinatorId(String text) {
      return COORDINATOR_ID.matcher(text).matches();
    }
  }

  /** Returns the defaults for one ensemble and one coordinator. */
  public static ZooKeeperSettings of(
      String connectString, String coordinatorId, String advertisedAddress) {
    return of(connectString, coordinatorId, () -> advertisedAddress);
  }

  /** Returns the same where the address is known only when the coordinator registers. */
  public static ZooKeeperSettings of(
      String connectString, String coordinatorId, Supplier<String> advertisedAddress) {
    return new ZooKeeperSettings(
        connectString,
        "/lockkeeper",
        "/lockkeeper/locks",
        DEFAULT_TIMES,
        new Member(coordinatorId, advertisedAddress, ""),
        DEFAULT_MAX_REPLY_BYTES,
        ZooKeeperAccess.OPEN);
  }

  /** Returns the same with another root, and the queues under it. */
  public ZooKeeperSettings withRoot(String root) {
    String locks = root.equals("/") ? "/locks" : root + "/locks";
    return new ZooKeeperSettings(connectString, root, locks, times, member, maxReplyBytes, access);
  }

  /** Returns the same with the queues elsewhere. */
  public ZooKeeperSettings withLocksPath(String locks) {
    return new ZooKeeperSettings(
        connectString, rootPath, locks, times, member, maxReplyBytes, access);
  }

  /** Returns the same at another home. */
  public ZooKeeperSettings withHome(String home) {
    Member there = new Member(member.coordinatorId(), member.advertisedAddress(), home);
    return new ZooKeeperSettings(
        connectString, rootPath, locksPath, times, there, maxReplyBytes, access);
  }

  /** Returns the same with other clocks. */
  public ZooKeeperSettings withTimes(
      Duration sessionTimeout, Duration memberTimeout, Duration tick, int syncLimit) {
    Times others = new Times(sessionTimeout, memberTimeout, tick, syncLimit);
    return new ZooKeeperSettings(
        connectString, rootPath, locksPath, others, member, maxReplyBytes, access);
  }

  /** Returns the same with another access. */
  public ZooKeeperSettings withAccess(ZooKeeperAccess newAccess) {
    return new ZooKeeperSettings(
        connectString, rootPath, locksPath, times, member, maxReplyBytes, newAccess);
  }

  private static void requirePath(String path, String what) {
    require(
        path.matches("(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+"),
        "the " + what + " must be an absolute znode path of plain segments: " + path);
  }

  private static void require(boolean holds, String message) {
    if (!holds) {
      throw new IllegalArgumentException(message);
    }
  }
}
