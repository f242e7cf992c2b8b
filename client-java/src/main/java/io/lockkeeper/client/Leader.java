package io.lockkeeper.client;

import io.lockkeeper.client.internal.protocol.Limits;

/**
 * Who leads, as a server saw it a moment ago.
 *
 * @param value what the leader has said about itself: an address, for instance
 * @param holder who it is, human-readable
 * @param leaseTag the public short name of its client's lease
 * @param fencingToken its fencing token: above zero, and higher than that of any leader before
 */
public record Leader(String value, String holder, String leaseTag, long fencingToken) {

  /** Checks the token. */
  public Leader {
    Limits.require(fencingToken > 0, "fencingToken", "above zero", fencingToken);
  }
}
