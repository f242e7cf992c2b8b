package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Connections to a port of this machine that can be cut. */
final class Relay implements AutoCloseable {

  private static final int BUFFER_BYTES = 1 << 16;

  private final ServerSocket listener;
  private final int target;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();

  private Relay(ServerSocket listener, int target) {
    this.listener = listener;
    this.target = target;
  }

  /** Listens on a port of its own, for what is at another one. */
  static Relay to(int target) throws IOException {
    Relay relay = new Relay(new ServerSocket(0, 0, InetAddress.getLoopbackAddress()), target);
    run("relay", relay::accept);
    return relay;
  }

  private static void run(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket near = listener.accept();
        Socket far = new Socket(InetAddress.getLoopbackAddress(), target);
        near.setTcpNoDelay(true);
        far.setTcpNoDelay(true);
        open.add(near);
        open.add(far);
        run("relay-there", () -> copy(near, far));
        run("relay-back", () -> copy(far, near));
      } catch (IOException closed) {
        // Either this relay or the one who came.
      }
    }
  }

  private void copy(Socket from, Socket to) {
    byte[] buffer = new byte[BUFFER_BYTES];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        out.write(buffer, 0, read);
      }
    } catch (IOException cut) {
      // Ended below, as where one side has ended in good order.
    } finally {
      end(from);
      end(to);
    }
  }

  private void end(Socket socket) {
    open.remove(socket);
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends all connections; new ones may come at once. */
  void cut() {
    open.forEach(this::end);
  }

  /** Returns what a client connects to. */
  String address() {
    return "127.0.0.1:" + listener.getLocalPort();
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    cut();
  }
}
