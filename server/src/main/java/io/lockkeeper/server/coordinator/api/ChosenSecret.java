package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.lock.LeaseId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** A lease's secret that its client has chosen: it decides the lease's id too. */
public final class ChosenSecret {

  private static final String DOMAIN = "lockkeeper lease id ";

  private ChosenSecret() {}

  /**
   * Returns the id of the lease that is opened with {@code secret}: the same at every coordinator,
   * and one that nobody can choose, since half of an id is public and names the lease's entries.
   */
  public static LeaseId leaseId(String secret) {
    ByteBuffer digest = ByteBuffer.wrap(sha256(DOMAIN + secret));
    return new LeaseId(digest.getLong(), digest.getLong());
  }

  /** Returns the SHA-256 of a text. */
  public static byte[] sha256(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
