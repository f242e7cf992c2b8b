package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.time.Duration;
import java.util.Optional;

/** Whether the timeout that ZooKeeper granted a lock session is one to rely on. */
final class SessionTimeoutCheck {

  private SessionTimeoutCheck() {}

  /** Returns what is wrong with a granted timeout, for the operator, or empty if it will do. */
  static Optional<String> problemOf(
      ZooKeeperSettings settings, Duration timeout, int grantedMillis) {
    long asked = timeout.toMillis();
    long bound = settings.times().shortestSessionTimeout().toMillis();
    if (grantedMillis < asked) {
      return Optional.of(
          "ZooKeeper grants a session timeout of "
              + grantedMillis
              + " ms where "
              + asked
              + " ms are asked for: raise its maxSessionTimeout, or lower the session timeout");
    }
    // One that was adopted from a coordinator with other settings is what it is.
    if (timeout.equals(settings.times().sessionTimeout()) && grantedMillis <= bound) {
      return Optional.of(
          "ZooKeeper grants a session timeout of "
              + grantedMillis
              + " ms, which is not above (syncLimit + 1) x tickTime = "
              + bound
              + " ms: sessions would expire in any stall of its leader");
    }
    return Optional.empty();
  }
}
