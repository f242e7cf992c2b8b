package io.lockkeeper.integration.attack;

import com.google.protobuf.MessageLite;
import java.nio.ByteBuffer;

/** Messages as gRPC sends them. */
final class Messages {

  private static final int PREFIX_BYTES = 5;

  private Messages() {}

  /** Returns a message behind its length, not packed. */
  static byte[] framed(MessageLite message) {
    byte[] body = message.toByteArray();
    return ByteBuffer.allocate(PREFIX_BYTES + body.length)
        .put((byte) 0)
        .putInt(body.length)
        .put(body)
        .array();
  }

  /** Returns a packed message behind its length. */
  static byte[] framedAsPacked(byte[] packed) {
    return ByteBuffer.allocate(PREFIX_BYTES + packed.length)
        .put((byte) 1)
        .putInt(packed.length)
        .put(packed)
        .array();
  }
}
