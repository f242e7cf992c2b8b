package io.lockkeeper.client.internal.lease;

import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * What a lease is opened and resumed with. The client chooses the secret: when the answer to the
 * opening is lost, the same request finds the lease that it has made.
 *
 * @param id 32 hexadecimal digits; empty until the server has told it
 * @param secret proves that the lease is this client's: 32 hexadecimal digits
 */
public record LeaseKey(String id, String secret) {

  private static final int BYTES = 16;

  /** Makes one that nobody can guess. */
  public static LeaseKey random() {
    byte[] bytes = new byte[BYTES];
    new SecureRandom().nextBytes(bytes);
    return new LeaseKey("", HexFormat.of().formatHex(bytes));
  }

  /** Returns the same with the id that the server has told. */
  public LeaseKey of(String leaseId) {
    return new LeaseKey(leaseId, secret);
  }

  /** Leaves the secret out. */
  @Override
  public String toString() {
    return "LeaseKey[" + id.substring(0, Math.min(BYTES, id.length())) + "]";
  }
}
