package io.lockkeeper.integration.harness;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * A connection that speaks HTTP/2 frame by frame, and keeps to none of its rules but when told: for
 * clients that mean no good. It never reads but when asked.
 */
public final class RawHttp2 implements AutoCloseable {

  /** A frame's type: data. */
  public static final int DATA = 0;

  /** A frame's type: headers. */
  public static final int HEADERS = 1;

  /** A frame's type: the end of a stream by force. */
  public static final int RST_STREAM = 3;

  /** A frame's type: settings. */
  public static final int SETTINGS = 4;

  /** A frame's type: a ping. */
  public static final int PING = 6;

  /** A frame's type: the farewell of a connection. */
  public static final int GOAWAY = 7;

  /** A frame's type: more room for the other side. */
  public static final int WINDOW_UPDATE = 8;

  /** The method of Acquire. */
  public static final String ACQUIRE = "/lockkeeper.v1.LockService/Acquire";

  private static final byte[] PREFACE =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
  private static final int END_STREAM = 1;
  private static final int END_HEADERS = 4;
  private static final int INITIAL_WINDOW = 65_535;
  private static final int CONNECT_MILLIS = 60_000;
  private static final int READ_MILLIS = 60_000;

  private final Socket socket;
  private final OutputStream out;
  private final ByteArrayOutputStream pending = new ByteArrayOutputStream();
  private int nextStream = 1;

  /** How many bytes of data the other side has said that the connection may send. */
  private int window = INITIAL_WINDOW;

  /**
   * One frame.
   *
   * @param type its type
   * @param stream its stream, zero for the connection
   */
  public record Frame(int type, int stream) {}

  private RawHttp2(Socket socket) throws IOException {
    this.socket = socket;
    this.out = socket.getOutputStream();
  }

  /**
   * Connects, for whatever is to be said.
   *
   * @param from the address of this machine to come from, such as 127.0.0.2
   */
  public static Socket connect(String from, int port) throws IOException {
    Socket socket = new Socket();
    socket.setSoTimeout(READ_MILLIS);
    socket.setTcpNoDelay(true);
    socket.bind(new InetSocketAddress(InetAddress.getByName(from), 0));
    socket.connect(new InetSocketAddress("127.0.0.1", port), CONNECT_MILLIS);
    return socket;
  }

  /** Connects and says nothing at all. */
  public static RawHttp2 silent(String from, int port) throws IOException {
    return new RawHttp2(connect(from, port));
  }

  /** Connects and begins as a client should. */
  public static RawHttp2 open(String from, int port) throws IOException {
    return begin(connect(from, port));
  }

  /** Begins as a client should, on a connection that is there, such as one of TLS. */
  public static RawHttp2 begin(Socket socket) throws IOException {
    RawHttp2 connection = new RawHttp2(socket);
    connection.pending.write(PREFACE);
    connection.frame(SETTINGS, 0, 0, new byte[0]);
    connection.flush();
    return connection;
  }

  /** Adds the headers of a call of gRPC, which is then open; returns its stream. */
  public int call(String path, String... moreHeaders) throws IOException {
    int stream = nextStream;
    nextStream += 2;
    ByteArrayOutputStream block = new ByteArrayOutputStream();
    literal(block, ":method", "POST");
    literal(block, ":scheme", "http");
    literal(block, ":path", path);
    literal(block, ":authority", "localhost");
    literal(block, "te", "trailers");
    literal(block, "content-type", "application/grpc");
    for (int i = 0; i < moreHeaders.length; i += 2) {
      literal(block, moreHeaders[i], moreHeaders[i + 1]);
    }
    frame(HEADERS, END_HEADERS, stream, block.toByteArray());
    return stream;
  }

  /** Adds one header as it is, of which the other side remembers nothing. */
  private static void literal(ByteArrayOutputStream block, String name, String value)
      throws IOException {
    block.write(0);
    string(block, name);
    string(block, value);
  }

  private static void string(ByteArrayOutputStream block, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    int length = bytes.length;
    if (length < 127) {
      block.write(length);
    } else {
      block.write(127);
      for (length -= 127; length >= 128; length /= 128) {
        block.write(length % 128 + 128);
      }
      block.write(length);
    }
    block.write(bytes);
  }

  /** Adds data to a stream. */
  public void data(int stream, byte[] bytes, boolean last) throws IOException {
    window -= bytes.length;
    frame(DATA, last ? END_STREAM : 0, stream, bytes);
  }

  /**
   * Sends data as soon as the connection may: who sends more than the other side has room for is
   * cut off.
   *
   * @throws IOException if the connection has ended
   */
  public void dataWithinWindow(int stream, byte[] bytes) throws IOException {
    while (window < bytes.length) {
      if (read().isEmpty()) {
        throw new IOException("the connection has ended");
      }
    }
    data(stream, bytes, false);
    flush();
  }

  /** Adds a reset of a stream, as a client that cancels sends it. */
  public void cancel(int stream) throws IOException {
    frame(RST_STREAM, 0, stream, new byte[] {0, 0, 0, 8});
  }

  /** Adds any frame. */
  public void frame(int type, int flags, int stream, byte[] body) throws IOException {
    pending.write(new byte[] {(byte) (body.length >> 16), (byte) (body.length >> 8)});
    pending.write(body.length);
    pending.write(type);
    pending.write(flags);
    for (int shift = 24; shift >= 0; shift -= 8) {
      pending.write(stream >> shift);
    }
    pending.write(body);
  }

  /** Sends what was added. */
  public void flush() throws IOException {
    byte[] bytes = pending.toByteArray();
    pending.reset();
    out.write(bytes);
    out.flush();
  }

  /** Sends bytes that are no frames. */
  public void send(byte[] bytes) throws IOException {
    out.write(bytes);
    out.flush();
  }

  /** Waits for the next frame; empty where the connection has ended. */
  public Optional<Frame> read() {
    try {
      DataInputStream in = new DataInputStream(socket.getInputStream());
      int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
      int type = in.readUnsignedByte();
      in.readUnsignedByte();
      int stream = in.readInt() & Integer.MAX_VALUE;
      byte[] body = new byte[length];
      in.readFully(body);
      if (type == WINDOW_UPDATE && stream == 0) {
        window += ByteBuffer.wrap(body).getInt();
      }
      return Optional.of(new Frame(type, stream));
    } catch (SocketTimeoutException e) {
      throw new UncheckedIOException(e);
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Reads until a frame of the type has come; empty where the connection ends before. */
  public Optional<Frame> await(int type) {
    Optional<Frame> next = read();
    while (next.isPresent() && next.get().type() != type) {
      next = read();
    }
    return next;
  }

  /** Returns whether the server closes the connection, within a minute. */
  public boolean isClosedByServer() {
    try {
      while (read().isPresent()) {
        // What it says before does not matter.
      }
      return true;
    } catch (UncheckedIOException e) {
      return false;
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
