package io.lockkeeper.server.zookeeper.member;

import java.util.Collection;

/**
 * Whose turn it is to adopt a session, the same at all coordinators that see the same members: the
 * ranks of one session are spread over the members as if by lot, and stay when others come and go.
 */
public final class Rendezvous {

  private static final long OFFSET = 0xcbf29ce484222325L;
  private static final long PRIME = 0x100000001b3L;

  private Rendezvous() {}

  /** Returns how many of {@code others} come before {@code self}. */
  public static int rank(String claim, String self, Collection<String> others) {
    long own = weight(claim, self);
    return (int)
        others.stream()
            .filter(other -> !other.equals(self))
            .filter(other -> comesBefore(weight(claim, other), other, own, self))
            .count();
  }

  private static boolean comesBefore(long weight, String member, long own, String self) {
    return weight == own ? member.compareTo(self) < 0 : weight > own;
  }

  private static long weight(String claim, String member) {
    long hash = OFFSET;
    String text = claim + "/" + member;
    for (int i = 0; i < text.length(); i++) {
      hash = (hash ^ text.charAt(i)) * PRIME;
    }
    // The last characters would hardly reach the high bits otherwise.
    hash = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
    hash = (hash ^ (hash >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return hash ^ (hash >>> 33);
  }
}
