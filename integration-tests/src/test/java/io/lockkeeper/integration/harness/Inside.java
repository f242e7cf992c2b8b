package io.lockkeeper.integration.harness;

import java.util.HashMap;
import java.util.Map;

/**
 * Who is inside each lock, as the clients of one process believe: entered after the grant has come,
 * left before the release is sent.
 */
public final class Inside {

  private static final class Room {
    private int sharing;
    private boolean taken;
    private long highestToken;
    private long lastExclusiveToken;
  }

  private final Map<String, Room> rooms = new HashMap<>();

  /** Enters, which fails beside somebody excluded, or with a token that should be in the past. */
  public synchronized void enter(String lock, boolean shared, long token) {
    Room room = rooms.computeIfAbsent(lock, name -> new Room());
    if (room.taken || (!shared && room.sharing > 0)) {
      throw new AssertionError("two inside " + lock + ", the second with token " + token);
    }
    // Readers may hear of their grants in any order; a writer comes after all before it.
    long floor = shared ? room.lastExclusiveToken : room.highestToken;
    if (token <= floor) {
      throw new AssertionError(lock + ": token " + token + " after " + floor);
    }
    room.highestToken = Math.max(room.highestToken, token);
    if (shared) {
      room.sharing++;
    } else {
      room.taken = true;
      room.lastExclusiveToken = token;
    }
  }

  /** Leaves. */
  public synchronized void leave(String lock, boolean shared) {
    Room room = rooms.get(lock);
    if (shared) {
      room.sharing--;
    } else {
      room.taken = false;
    }
  }
}
