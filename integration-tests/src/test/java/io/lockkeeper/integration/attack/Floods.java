package io.lockkeeper.integration.attack;

import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.RawHttp2;
import io.lockkeeper.v1.WatchRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;

/**
 * Attacks by number. What is opened stays open until the {@link Attack} is closed, if the server
 * does not close it first.
 */
public final class Floods {

  private static final String WATCH = "/lockkeeper.v1.LockService/Watch";
  private static final int PIECE = 60 * 1024;
  private static final int FRAME = 15 * 1024;
  private static final int TLS_HANDSHAKE = 22;

  private Floods() {}

  /** One attack. */
  @FunctionalInterface
  public interface Flood {

    /**
     * Begins it.
     *
     * @throws IOException if the server closes a connection meanwhile, as it well may
     */
    void run(Attack attack) throws IOException;
  }

  /**
   * Returns one of each kind.
   *
   * @param prefix what the names of the attackers' locks begin with
   * @param known shows a certificate that counts
   * @param unknown shows one that does not
   */
  public static List<Flood> all(String prefix, SSLContext known, SSLContext unknown) {
    return List.of(
        attack -> silence(attack, 1_000),
        attack -> halfHellos(attack, 1_000),
        attack -> headersAlone(attack, 4, 2_000),
        attack -> partialRequests(attack, 150),
        attack -> piecesOfOneByte(attack, 10),
        attack -> unreadWatches(attack, prefix, 4, 250),
        Floods::brokenFrames,
        attack -> resets(attack, prefix + "reset", 12_000),
        Floods::pings,
        attack -> handshakes(attack, unknown, 200),
        attack -> handshakes(attack, known, 200));
  }

  /** Connections that say nothing. */
  static void silence(Attack attack, int connections) throws IOException {
    for (int i = 0; i < connections; i++) {
      attack.silent();
    }
  }

  /** Connections that send the first bytes of a ClientHello and no more. */
  static void halfHellos(Attack attack, int connections) throws IOException {
    for (int i = 0; i < connections; i++) {
      sent(attack.silent(), halfHello());
    }
  }

  /** Returns whether the server has not closed the connection before. */
  static boolean sent(RawHttp2 attacker, byte[] bytes) {
    try {
      attacker.send(bytes);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns the beginning of a record of 512 bytes that has a ClientHello. */
  static byte[] halfHello() {
    return new byte[] {TLS_HANDSHAKE, 3, 1, 2, 0, 1, 0, 1, (byte) 0xFC, 3, 3};
  }

  /** Whole handshakes, one after the other, with nothing after them; returns how many succeeded. */
  static int handshakes(Attack attack, SSLContext context, int connections) {
    int made = 0;
    for (int i = 0; i < connections; i++) {
      made += isMade(attack, context) ? 1 : 0;
    }
    return made;
  }

  private static boolean isMade(Attack attack, SSLContext context) {
    try {
      attack.handshake(context).close();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Calls with all the metadata that may be, and nothing else. */
  static void headersAlone(Attack attack, int connections, int calls) throws IOException {
    String large = "x".repeat(6_000);
    for (int connection = 0; connection < connections; connection++) {
      RawHttp2 attacker = attack.http2();
      for (int call = 0; call < calls; call++) {
        attacker.call(RawHttp2.ACQUIRE, "x-large", large);
        if (call % 64 == 0) {
          attacker.flush();
        }
      }
      attacker.flush();
    }
  }

  /** Requests that lack their last bytes: 16 x 60 KB on each connection. */
  static void partialRequests(Attack attack, int connections) throws IOException {
    byte[] announced = new byte[FRAME];
    announced[3] = (byte) 0xEF; // Uncompressed, and 61,184 bytes long.
    byte[] more = new byte[FRAME];
    List<RawHttp2> attackers = new ArrayList<>();
    for (int connection = 0; connection < connections; connection++) {
      attackers.add(attack.http2(connection % 2 == 0 ? attack.address() : attack.otherAddress()));
    }
    for (int call = 0; call < 16; call++) {
      for (RawHttp2 attacker : attackers) {
        int stream = attacker.call(RawHttp2.ACQUIRE);
        attacker.dataWithinWindow(stream, announced);
        for (int sent = FRAME; sent + FRAME <= PIECE; sent += FRAME) {
          attacker.dataWithinWindow(stream, more);
        }
      }
    }
  }

  /** Requests that come byte by byte. */
  static void piecesOfOneByte(Attack attack, int connections) throws IOException {
    for (int connection = 0; connection < connections; connection++) {
      RawHttp2 attacker = attack.http2();
      int stream = attacker.call(RawHttp2.ACQUIRE);
      attacker.data(stream, new byte[] {0, 0, 0, (byte) 0xEF, 0}, false);
      for (int sent = 0; sent < 30_000; sent++) {
        attacker.data(stream, new byte[1], false);
        if (sent % 500 == 0) {
          attacker.flush();
        }
      }
    }
  }

  /** Watches that nobody reads. */
  static void unreadWatches(Attack attack, String prefix, int connections, int watches)
      throws IOException {
    byte[] watch = Messages.framed(WatchRequest.newBuilder().setPrefix(prefix).build());
    for (int connection = 0; connection < connections; connection++) {
      RawHttp2 attacker = attack.http2();
      for (int call = 0; call < watches; call++) {
        attacker.data(attacker.call(WATCH), watch, true);
      }
      attacker.flush();
    }
  }

  /** Frames of data for streams that never were, and bytes that are no frames at all. */
  static void brokenFrames(Attack attack) throws IOException {
    for (int connection = 0; connection < 200; connection++) {
      RawHttp2 attacker = attack.http2();
      for (int i = 0; i < 100; i++) {
        attacker.call("/" + i, "content-type", "text/plain");
        attacker.call("no-slash\u0001");
      }
      attacker.frame(RawHttp2.DATA, 0, 4_001, new byte[10]);
      flushed(attacker);
    }
    for (int connection = 0; connection < 200; connection++) {
      RawHttp2 attacker = attack.silent();
      sent(attacker, "GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    }
  }

  /**
   * Returns whether the server has closed a connection that asks, and hangs up, again and again.
   */
  static boolean resets(Attack attack, String lock, int calls) throws IOException {
    RawHttp2 attacker = attack.http2();
    byte[] request = Messages.framed(Asking.request(lock).build());
    boolean closed = false;
    for (int call = 0; call < calls && !closed; call++) {
      int stream = attacker.call(RawHttp2.ACQUIRE);
      attacker.data(stream, request, true);
      attacker.cancel(stream);
      closed = call % 100 == 0 && !flushed(attacker);
    }
    return closed || attacker.isClosedByServer();
  }

  /** Returns whether the server has closed a connection that pings without end. */
  static boolean pings(Attack attack) throws IOException {
    RawHttp2 attacker = attack.http2();
    boolean open = true;
    for (int ping = 0; ping < 1_000 && open; ping++) {
      attacker.frame(RawHttp2.PING, 0, 0, new byte[8]);
      open = flushed(attacker);
    }
    return attacker.isClosedByServer();
  }

  private static boolean flushed(RawHttp2 attacker) {
    try {
      attacker.flush();
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
