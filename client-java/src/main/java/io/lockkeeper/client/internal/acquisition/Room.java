package io.lockkeeper.client.internal.acquisition;

/** How many requests and holds one client has, in all its sessions. On the client's loop only. */
public final class Room {

  /** How many it may have. */
  public static final int CAPACITY = 10_000;

  private int taken;

  /** Makes room for one more; returns false if there is none. */
  boolean take() {
    if (taken >= CAPACITY) {
      return false;
    }
    taken++;
    return true;
  }

  /** One has ended. */
  public void leave() {
    taken--;
  }
}
