package io.lockkeeper.integration.fuzz;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Does to the bytes of a message what no library would let a client do. */
final class Damage {

  private static final int MOST_NOISE = 200;
  private static final int DEEPEST = 300;

  private final Random random;

  Damage(Random random) {
    this.random = random;
  }

  /** Returns the bytes with something wrong in them. */
  byte[] some(byte[] message) {
    if (message.length == 0) {
      return noise();
    }
    byte[] damaged = message.clone();
    int at = random.nextInt(damaged.length);
    switch (random.nextInt(6)) {
      case 0 -> damaged[at] ^= (byte) (1 << random.nextInt(8));
      case 1 -> damaged[at] = (byte) random.nextInt();
      // No beginning of any character in UTF-8.
      case 2 -> damaged[at] = (byte) 0xFF;
      case 3 -> damaged = Arrays.copyOf(damaged, at);
      case 4 -> damaged = joined(damaged, Arrays.copyOfRange(damaged, at, damaged.length));
      default -> {
        for (int i = 0; i < 8; i++) {
          damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
        }
      }
    }
    return damaged;
  }

  /** Returns bytes that mean nothing. */
  byte[] noise() {
    byte[] bytes = new byte[random.nextInt(MOST_NOISE)];
    random.nextBytes(bytes);
    return bytes;
  }

  /** Returns a message in a message in a message, deeper than any reader goes. */
  byte[] nested(Descriptor type) {
    int depth = 1 + random.nextInt(DEEPEST);
    byte[] message = new byte[0];
    List<Integer> path = cycle(type);
    for (int i = depth * path.size() - 1; i >= 0; i--) {
      message = wrapped(path.get(i % path.size()), message);
    }
    return message;
  }

  /** Returns the numbers of the fields by which a message has itself in it, else of any field. */
  private static List<Integer> cycle(Descriptor type) {
    for (FieldDescriptor outer : type.getFields()) {
      if (outer.getJavaType() != JavaType.MESSAGE) {
        continue;
      }
      for (FieldDescriptor inner : outer.getMessageType().getFields()) {
        if (inner.getJavaType() == JavaType.MESSAGE && inner.getMessageType().equals(type)) {
          return List.of(outer.getNumber(), inner.getNumber());
        }
      }
    }
    return List.of(1);
  }

  private static byte[] wrapped(int field, byte[] content) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(content.length + 8);
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    try {
      out.writeBytes(field, ByteString.copyFrom(content));
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static byte[] joined(byte[] first, byte[] second) {
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }
}
