package io.lockkeeper.server.zookeeper.client;

import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/** The check of a session's claim record that every transaction begins with. */
public final class Fence {

  /** The version that fits any: no claim of ours ever has it. */
  public static final int ANY = -1;

  private Fence() {}

  /** Returns the check that fails unless the claim has this version. */
  public static Op of(String claimPath, int epoch) {
    return Op.check(claimPath, epoch);
  }

  /** Returns whether the check's error code says that the claim is not ours any more. */
  public static boolean isBroken(int code) {
    return code == Code.BADVERSION.intValue() || code == Code.NONODE.intValue();
  }

  /**
   * Returns whether the reply says that the claim is not ours any more: the fence comes first in
   * every transaction.
   */
  public static boolean isBroken(MultiReply reply) {
    return reply instanceof MultiReply.Culprit culprit
        && culprit.index() == 0
        && isBroken(culprit.code());
  }
}
