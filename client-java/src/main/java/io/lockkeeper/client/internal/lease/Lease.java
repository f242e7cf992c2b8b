package io.lockkeeper.client.internal.lease;

import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.v1.SessionOpened;

/**
 * The client's lease.
 *
 * @param tag its public short name
 * @param ttlNanos how long it lives without a keep-alive
 * @param validity until when it may be relied upon
 */
public record Lease(String tag, long ttlNanos, Validity validity) {

  /** Returns the lease that was opened by a request sent at {@code sentAtNanos}. */
  public static Lease of(SessionOpened opened, long sentAtNanos) {
    return new Lease(
        opened.getLeaseTag(),
        Protos.toNanos(opened.getTtl()),
        new Validity(sentAtNanos, Protos.toNanos(opened.getValidFor())));
  }
}
