package io.lockkeeper.cli.server;

import io.lockkeeper.server.app.HostPort;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Asks a server of ZooKeeper one of its four-letter words. Every wait has a bound. */
final class FourLetterWord {

  private static final int PATIENCE_MILLIS = 3_000;
  private static final int MAX_BYTES = 64 << 10;

  private FourLetterWord() {}

  /**
   * Returns the answer; empty if the server does not allow the word, or does not answer it.
   *
   * @throws IOException if the server cannot be reached
   */
  static Optional<String> ask(HostPort server, String word) throws IOException {
    try (Socket socket = connect(server)) {
      socket.setSoTimeout(PATIENCE_MILLIS);
      return answer(socket, word);
    }
  }

  private static Optional<String> answer(Socket socket, String word) {
    try {
      socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
      socket.getOutputStream().flush();
      byte[] bytes = socket.getInputStream().readNBytes(MAX_BYTES);
      String text = new String(bytes, StandardCharsets.UTF_8).strip();
      return text.isEmpty() || text.contains("is not executed because it is not in the whitelist")
          ? Optional.empty()
          : Optional.of(text);
    } catch (IOException e) {
      return Optional.empty(); // It talks TLS there, or is overloaded: the other checks tell.
    }
  }

  /** Connects, and does no more. */
  static Socket connect(HostPort server) throws IOException {
    Socket socket = new Socket();
    try {
      InetSocketAddress address = new InetSocketAddress(server.host(), server.port());
      if (address.isUnresolved()) {
        throw new IOException("unknown host");
      }
      socket.connect(address, PATIENCE_MILLIS);
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }
}
