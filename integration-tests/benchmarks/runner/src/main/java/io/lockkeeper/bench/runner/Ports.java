package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Finds ports for servers that must be told theirs. */
final class Ports {

  // Below the range from which the kernel takes the ports of outgoing connections.
  private static final int FIRST = 15_000;
  private static final int LAST = 32_000;
  private static final int TRIES = 200;

  private Ports() {}

  /** Returns a port of the loopback address that was free a moment ago. */
  static int free() throws IOException {
    for (int i = 0; i < TRIES; i++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
      if (isFree(port)) {
        return port;
      }
    }
    throw new IOException("no free port found");
  }

  private static boolean isFree(int port) throws IOException {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (BindException taken) {
      return false;
    }
  }
}
