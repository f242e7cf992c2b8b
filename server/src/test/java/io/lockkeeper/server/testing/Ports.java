package io.lockkeeper.server.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Finds ports that a server can keep over restarts. Each is given once: tests that run at the same
 * time, in another JVM as well, get others.
 */
public final class Ports {

  // Below the range from which the kernel takes the ports of outgoing connections: a client that
  // keeps trying to reach a stopped server there could otherwise connect to itself.
  private static final int FIRST = 15_000;
  private static final int LAST = 32_000;
  private static final int TRIES = 200;

  /** A byte for each port: the JVM that gives the port away locks it until its own end. */
  private static final FileChannel GIVEN = openGiven();

  private Ports() {}

  private static FileChannel openGiven() {
    String name = "lockkeeper-test-ports-" + System.getProperty("user.name");
    try {
      return FileChannel.open(
          Path.of(System.getProperty("java.io.tmpdir"), name),
          StandardOpenOption.CREATE,
          StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns a port of the loopback address that was free a moment ago, and is given to nobody. */
  public static int free() {
    try {
      for (int i = 0; i < TRIES; i++) {
        int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
        if (isFirstGiven(port) && isFree(port)) {
          return port;
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    throw new IllegalStateException("no free port found");
  }

  private static boolean isFirstGiven(int port) throws IOException {
    try {
      return GIVEN.tryLock(port, 1, false) != null;
    } catch (OverlappingFileLockException ours) {
      return false;
    }
  }

  private static boolean isFree(int port) throws IOException {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return socket.isBound();
    } catch (java.net.BindException taken) {
      return false;
    }
  }
}
