package io.lockkeeper.server.core.api;

/**
 * Who makes a request, as far as the core looks at that.
 *
 * @param identity whose leases he may use, besides those that belong to nobody; empty for somebody
 *     who has proved nothing
 * @param operator whether he may use everybody's
 * @param account what his leases and acquisitions are counted under; empty: they are not counted
 * @param quota how much that account may have
 */
public record Caller(String identity, boolean operator, String account, Quota quota) {

  /** Somebody who has proved nothing and is not counted. */
  public static final Caller ANYBODY = new Caller("", false, "", Quota.UNLIMITED);
}
