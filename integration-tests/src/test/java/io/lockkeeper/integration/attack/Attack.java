package io.lockkeeper.integration.attack;

import io.lockkeeper.integration.harness.RawHttp2;
import java.io.IOException;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/**
 * Hostile connections to one server, which end together. Each attack comes from addresses of this
 * machine that no other client uses, so that one does not meet the limits of another. For one
 * thread.
 */
public final class Attack implements AutoCloseable {

  private static final int HANDSHAKE_MILLIS = 60_000;
  private static final int ADDRESSES = 250;
  private static final AtomicInteger ATTACKS = new AtomicInteger();

  private final int number = 2 + ATTACKS.getAndIncrement() % ADDRESSES;
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

  /** Returns the address that connections come from. */
  String address() {
    return "127.0.0." + number;
  }

  /** Returns a second address, for attacks that want more than the limit of one. */
  String otherAddress() {
    return "127.0.1." + number;
  }

  /** Opens a connection that says nothing. */
  RawHttp2 silent() throws IOException {
    return kept(RawHttp2.silent(address(), port));
  }

  /** Opens a connection that speaks HTTP/2. */
  RawHttp2 http2() throws IOException {
    return http2(address());
  }

  /** Opens a connection that speaks HTTP/2 from one of the two addresses. */
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
  SSLSocket handshake(SSLContext context, String... protocols) throws IOException {
    return handshake(address(), context, protocols);
  }

  private SSLSocket handshake(String from, SSLContext context, String... protocols)
      throws IOException {
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
