package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.ChosenSecret;
import io.lockkeeper.server.core.lock.LeaseId;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.UUID;

/** Makes what nobody may guess. Thread-safe. */
final class Secrets {

  private static final int SECRET_BYTES = 32;

  private final SecureRandom random = new SecureRandom();

  LeaseId leaseId() {
    return new LeaseId(random.nextLong(), random.nextLong());
  }

  /** Returns a fresh name for an acquisition's entries, whose first half is the lease's. */
  UUID acquisitionId(LeaseId lease) {
    return new UUID(lease.high(), random.nextLong());
  }

  /** Returns a fresh name for a wish to give way. */
  String askId() {
    return Long.toHexString(random.nextLong());
  }

  String secret() {
    byte[] bytes = new byte[SECRET_BYTES];
    random.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  /** Returns the SHA-256 of a secret in hexadecimal: what is kept of it. */
  static String hash(String secret) {
    return HexFormat.of().formatHex(ChosenSecret.sha256(secret));
  }
}
