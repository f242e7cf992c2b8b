package io.lockkeeper.server.zookeeper.client;

import org.apache.zookeeper.WatchedEvent;

/** Hears one handle's events on the store's thread. */
public interface HandleListener {

  /** The handle is connected. */
  void onConnected();

  /** The connection is lost; the handle connects again by itself. */
  void onDisconnected();

  /**
   * The handle is dead, or somebody else's. Whether the session is dead, this does not tell: the
   * client library declares it by itself too.
   */
  void onExpired();

  /**
   * The handle is dead, because ZooKeeper has refused to believe who we are; this says nothing of
   * the session.
   */
  default void onAuthFailed() {
    onExpired();
  }

  /** Something happened to a node below a watched path. */
  default void onNode(WatchedEvent event) {}
}
