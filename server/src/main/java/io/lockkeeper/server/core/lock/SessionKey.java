package io.lockkeeper.server.core.lock;

/**
 * This coordinator's own number for one of its lock sessions; ZooKeeper's id of the session is the
 * store's business.
 *
 * @param value rises from 1, never reused in one process
 */
public record SessionKey(int value) {
  @Override
  public String toString() {
    return "session-" + value;
  }
}
