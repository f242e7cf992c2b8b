package io.lockkeeper.server.zookeeper.client;

/** Runs an action when so many others are done. */
public final class Countdown {

  private final Runnable action;
  private int left;

  /** Runs {@code action} at once if there is nothing to wait for. */
  public Countdown(int count, Runnable action) {
    this.action = action;
    left = count;
    if (count == 0) {
      action.run();
    }
  }

  /** One of them is done. */
  public void one() {
    left--;
    if (left == 0) {
      action.run();
    }
  }
}
