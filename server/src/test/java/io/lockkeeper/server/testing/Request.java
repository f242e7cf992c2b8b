package io.lockkeeper.server.testing;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.StreamSupport;
import org.apache.jute.BinaryInputArchive;
import org.apache.zookeeper.MultiOperationRecord;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.OpCode;

/** One request as it passes the proxy. */
public final class Request {

  /** What a connection begins with. It has no number and no opcode on the wire. */
  public static final int CONNECT = OpCode.createSession;

  private static final int HEADER_BYTES = 8;

  private final int xid;
  private final int opcode;
  private final byte[] frame;

  private Request(int xid, int opcode, byte[] frame) {
    this.xid = xid;
    this.opcode = opcode;
    this.frame = frame;
  }

  static Request of(byte[] frame, boolean first) {
    ByteBuffer in = ByteBuffer.wrap(frame);
    return first ? new Request(0, CONNECT, frame) : new Request(in.getInt(), in.getInt(), frame);
  }

  /** Returns the client's number for it. */
  public int xid() {
    return xid;
  }

  /** Returns what it asks for: one of {@link OpCode}. */
  public int opcode() {
    return opcode;
  }

  /** Returns its size without the length field. */
  public int bytes() {
    return frame.length;
  }

  /** Returns the writes and checks of a {@code multi}; none for other requests. */
  public List<Op> multi() {
    if (opcode != OpCode.multi) {
      return List.of();
    }
    byte[] body = Arrays.copyOfRange(frame, HEADER_BYTES, frame.length);
    MultiOperationRecord record = new MultiOperationRecord();
    try {
      record.deserialize(BinaryInputArchive.getArchive(new ByteArrayInputStream(body)), "multi");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return StreamSupport.stream(record.spliterator(), false).toList();
  }

  /** Returns whether it is a {@code multi} with an operation of one of these opcodes. */
  public boolean isMultiWith(int... opcodes) {
    return multi().stream().anyMatch(op -> Arrays.stream(opcodes).anyMatch(o -> o == op.getType()));
  }

  /** Returns whether {@code text} occurs in it. */
  public boolean contains(String text) {
    return text().contains(text);
  }

  /** Returns its bytes as characters. */
  public String text() {
    return new String(frame, StandardCharsets.ISO_8859_1);
  }
}
