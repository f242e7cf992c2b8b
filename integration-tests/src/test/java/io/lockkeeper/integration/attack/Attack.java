package io.lockkeeper.integration.attack;

import io.lockkeeper.integration.harness.RawHttp2;
import java.io.IOException;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** Connections to one server that mean no good, and end together. For one thread. */
public final class Attack implements AutoCloseable {

  /** An address of this machine that no honest client comes from. */
  public static final String EVIL = "127.0.0.2";

  private static final int HANDSHAKE_MILLIS = 30_000;

  private final int port;
  private final Optional<SSLContext> tls;
  private final List<AutoCloseable> open = new ArrayList<>();

  /**
   * Opens nothing.
   *
   * @param port where the server listens
   * @param tls how to speak TLS, where the server does
   */
  public Attack(int port, Optional<SSLContext> tls) {
    this.port = port;
    this.tls = tls;
  }

  /** Opens a connection that says nothing. */
  RawHttp2 silent(String from) throws IOException {
    return kept(RawHttp2.silent(from, port));
  }

  /** Opens a connection that speaks HTTP/2. */
  RawHttp2 http2(String from) throws IOException {
    return tls.isEmpty()
        ? kept(RawHttp2.open(from, port))
        : RawHttp2.begin(handshake(from, tls.get()));
  }

  /**
   * Makes a whole handshake.
   *
   * @param protocols the versions of TLS to offer, none for all
   * @throws IOException if the server refuses; with TLS 1.3 it may do so later
   */
  SSLSocket handshake(String from, SSLContext context, String... protocols) throws IOException {
    Socket plain = kept(RawHttp2.connect(from, port));
    SSLSocket socket =
        (SSLSocket) context.getSocketFactory().createSocket(plain, "localhost", port, true);
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setApplicationProtocols(new String[] {"h2"});
    if (protocols.length > 0) {
      parameters.setProtocols(protocols);
    }
    socket.setSSLParameters(parameters);
    socket.setSoTimeout(HANDSHAKE_MILLIS);
    socket.startHandshake();
    return socket;
  }

  private <T extends AutoCloseable> T kept(T connection) {
    open.add(connection);
    return connection;
  }

  /** Ends all connections. */
  @Override
  public void close() {
    for (AutoCloseable connection : open) {
      try {
        connection.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
    open.clear();
  }
}
