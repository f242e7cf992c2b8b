package io.lockkeeper.server.testing;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** One client's connection through the proxy: two sockets, one thread for each direction. */
final class ProxiedConnection {

  private final ZooKeeperProxy proxy;
  private final Socket client;
  private final Socket server;
  private final Set<Integer> fatalReplies = ConcurrentHashMap.newKeySet();
  private final CountDownLatch gone = new CountDownLatch(1);
  private volatile boolean silent;

  ProxiedConnection(ZooKeeperProxy proxy, Socket client, Socket server) throws IOException {
    this.proxy = proxy;
    this.client = client;
    this.server = server;
    client.setTcpNoDelay(true);
    server.setTcpNoDelay(true);
  }

  void silence() {
    silent = true;
  }

  /** Breaks both sides. Idempotent. */
  void cut() {
    gone.countDown();
    closeQuietly(client);
    closeQuietly(server);
    proxy.onClosed(this);
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException alreadyBroken) {
      // As wanted.
    }
  }

  void pumpRequests() {
    boolean first = true;
    try (DataInputStream in =
            new DataInputStream(new BufferedInputStream(client.getInputStream()));
        DataOutputStream out = new DataOutputStream(server.getOutputStream())) {
      while (true) {
        byte[] frame = readFrame(in);
        Request request = Request.of(frame, first);
        first = false;
        if (isLetThrough(request)) {
          forward(frame, out);
        }
      }
    } catch (IOException broken) {
      cut();
    }
  }

  private boolean isLetThrough(Request request) throws IOException {
    ZooKeeperProxy.Action action = proxy.onRequest(request).orElse(null);
    if (action == null) {
      return true;
    }
    return switch (action) {
      case CUT_BEFORE -> throw new IOException("cut before " + request.opcode());
      case CUT_AFTER -> fatalReplies.add(request.xid());
      case DROP -> false;
      case HOLD -> isLetGo();
    };
  }

  private boolean isLetGo() throws IOException {
    proxy.awaitLetGo();
    return true;
  }

  void pumpReplies() {
    boolean first = true;
    try (DataInputStream in =
            new DataInputStream(new BufferedInputStream(server.getInputStream()));
        DataOutputStream out = new DataOutputStream(client.getOutputStream())) {
      while (true) {
        byte[] frame = readFrame(in);
        if (!first && fatalReplies.contains(ByteBuffer.wrap(frame).getInt())) {
          throw new IOException("cut after the request was done");
        }
        first = false;
        forward(frame, out);
      }
    } catch (IOException broken) {
      cut();
    }
  }

  private void forward(byte[] frame, DataOutputStream out) throws IOException {
    Duration delay = proxy.currentDelay();
    if (!delay.isZero()) {
      awaitGone(delay);
    }
    if (silent) {
      return;
    }
    ByteBuffer whole = ByteBuffer.allocate(Integer.BYTES + frame.length);
    out.write(whole.putInt(frame.length).put(frame).array());
    out.flush();
  }

  private void awaitGone(Duration atMost) throws IOException {
    try {
      if (gone.await(atMost.toNanos(), TimeUnit.NANOSECONDS)) {
        throw new IOException("cut");
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private static byte[] readFrame(DataInputStream in) throws IOException {
    byte[] frame = new byte[in.readInt()];
    in.readFully(frame);
    return frame;
  }
}
