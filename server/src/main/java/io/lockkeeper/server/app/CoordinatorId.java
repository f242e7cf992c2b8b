package io.lockkeeper.server.app;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Names a coordinator in ZooKeeper and in what people read: short, and new at every start. */
final class CoordinatorId {

  private static final int BYTES = 4;

  private CoordinatorId() {}

  /** Returns eight random hexadecimal digits. */
  static String make() {
    byte[] bytes = new byte[BYTES];
    new SecureRandom().nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }
}
