package io.lockkeeper.server.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Finds ports that a server can keep over restarts. */
public final class Ports {

  // Below the range from which the kernel takes the ports of outgoing connections: a client that
  // keeps trying to reach a stopped server there could otherwise connect to itself.
  private static final int FIRST = 15_000;
  private static final int LAST = 32_000;
  private static final int TRIES = 200;

  private Ports() {}

  /** Returns a port of the loopback address that was free a moment ago. */
  public static int free() {
    for (int i = 0; i < TRIES; i++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
      if (isFree(port)) {
        return port;
      }
    }
    throw new IllegalStateException("no free port found");
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return socket.isBound();
    } catch (java.net.BindException taken) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
