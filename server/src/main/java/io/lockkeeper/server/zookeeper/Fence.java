package io.lockkeeper.server.zookeeper;

import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The check of a session's claim record that every transaction begins with. */
final class Fence {

  /** The version that fits any: no claim of ours ever has it. */
  static final int ANY = -1;

  private static final Logger LOG = LoggerFactory.getLogger(Fence.class);

  // A fault that is planted on request, to see whether the tests would find it.
  private static final boolean PLANTED =
      "skip-epoch-check".equals(System.getProperty("lockkeeper.plant"));

  private Fence() {}

  /** Says it loudly if the check has been disabled. */
  static void warnIfPlanted() {
    if (PLANTED) {
      LOG.atWarn()
          .log(
              "A FAULT IS PLANTED: claims are not checked, a deposed coordinator goes on writing; never run this with data that matter");
    }
  }

  static Op of(String claimPath, int epoch) {
    return Op.check(claimPath, PLANTED ? ANY : epoch);
  }

  /** Returns whether the check's error code says that the claim is not ours any more. */
  static boolean isBroken(int code) {
    return code == Code.BADVERSION.intValue() || code == Code.NONODE.intValue();
  }

  /**
   * Returns whether the reply says that the claim is not ours any more: the fence comes first in
   * every transaction.
   */
  static boolean isBroken(MultiReply reply) {
    return reply instanceof MultiReply.Culprit culprit
        && culprit.index() == 0
        && isBroken(culprit.code());
  }
}
