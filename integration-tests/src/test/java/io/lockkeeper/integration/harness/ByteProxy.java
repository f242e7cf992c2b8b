package io.lockkeeper.integration.harness;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A TCP proxy on the loopback that misbehaves on demand. Blackholed, it accepts connections and
 * passes nothing on; what it has taken in is delivered when it heals, as TCP would after a
 * partition. Refusing, it has no listener: who connects is reset, as if nobody listened there.
 */
public final class ByteProxy implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ByteProxy.class);
  private static final int CHUNK = 8192;
  private static final int BACKLOG = 64;

  /** The two directions of a connection. */
  public enum Way {
    /** From those who connect to the target. */
    IN,
    /** From the target to those who connect. */
    OUT
  }

  private final InetSocketAddress address;
  private final int targetPort;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final Object gate = new Object();
  private final Set<Way> blackholed = EnumSet.noneOf(Way.class);
  private ServerSocket listener;
  private boolean closed;
  private long bytesPerSecond = Long.MAX_VALUE;

  private ByteProxy(InetSocketAddress address, int targetPort) throws IOException {
    this.listener = listen(address);
    this.address = new InetSocketAddress(address.getAddress(), listener.getLocalPort());
    this.targetPort = targetPort;
    acceptFrom(listener);
  }

  /** Starts a proxy in front of a port of this machine. */
  public static ByteProxy to(int targetPort) {
    return at(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), targetPort);
  }

  /** Starts a proxy at a given address, in front of a port of this machine. */
  public static ByteProxy at(InetSocketAddress address, int targetPort) {
    try {
      return new ByteProxy(address, targetPort);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ServerSocket listen(InetSocketAddress address) throws IOException {
    ServerSocket socket = new ServerSocket();
    socket.setReuseAddress(true);
    socket.bind(address, BACKLOG);
    return socket;
  }

  /** Returns where the proxy listens. */
  public int port() {
    return address.getPort();
  }

  /** Returns {@link #port()} as {@code host:port}. */
  public String address() {
    return address.getAddress().getHostAddress() + ":" + port();
  }

  /** From now on nothing passes, in either direction, and no connection breaks. */
  public void blackhole() {
    synchronized (gate) {
      blackholed.addAll(EnumSet.allOf(Way.class));
    }
  }

  /** From now on nothing passes in one direction; the other stays as it is. */
  public void blackhole(Way way) {
    synchronized (gate) {
      blackholed.add(way);
    }
  }

  /** Resets every connection and refuses new ones, until {@link #admit}. */
  public void refuse() {
    synchronized (gate) {
      closeListener();
    }
    cut();
  }

  /** Takes connections again; does nothing if it does. */
  public void admit() {
    synchronized (gate) {
      if (closed || !listener.isClosed()) {
        return;
      }
      try {
        listener = listen(address);
        acceptFrom(listener);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Everything passes again, what was held back first. */
  public void heal() {
    synchronized (gate) {
      blackholed.clear();
      bytesPerSecond = Long.MAX_VALUE;
      gate.notifyAll();
    }
  }

  /** Each direction of each connection passes at most so many bytes a second. */
  public void throttle(long limitBytesPerSecond) {
    synchronized (gate) {
      bytesPerSecond = limitBytesPerSecond;
    }
  }

  /** Resets every connection; new ones are welcome. */
  public void cut() {
    for (Socket socket : sockets) {
      reset(socket);
    }
  }

  @Override
  public void close() {
    synchronized (gate) {
      closed = true;
      gate.notifyAll();
      closeListener();
    }
    cut();
  }

  private void closeListener() {
    try {
      listener.close();
    } catch (IOException e) {
      LOG.atDebug().setCause(e).log("the listener was closed already");
    }
  }

  private void acceptFrom(ServerSocket socket) {
    daemon("proxy-accept", () -> acceptAll(socket));
  }

  private void acceptAll(ServerSocket socket) {
    try {
      while (true) {
        connect(socket.accept());
      }
    } catch (IOException e) {
      LOG.atDebug().setCause(e).log("the proxy accepts no more");
    }
  }

  private void connect(Socket near) {
    Socket far = new Socket();
    sockets.add(near);
    sockets.add(far);
    try {
      near.setTcpNoDelay(true);
      far.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), targetPort), 2_000);
      far.setTcpNoDelay(true);
    } catch (IOException e) {
      reset(near);
      reset(far);
      return;
    }
    daemon("proxy-in", () -> pump(near, far, Way.IN));
    daemon("proxy-out", () -> pump(far, near, Way.OUT));
  }

  private void pump(Socket from, Socket to, Way way) {
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] chunk = new byte[CHUNK];
      for (int read = in.read(chunk, 0, limit()); read >= 0; read = in.read(chunk, 0, limit())) {
        pass(read, way);
        out.write(chunk, 0, read);
      }
    } catch (IOException e) {
      LOG.atTrace().setCause(e).log("a connection through the proxy ended");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      end(from, to, way);
    }
  }

  /** The end of a connection does not pass a black hole either. */
  private void end(Socket from, Socket to, Way way) {
    reset(from);
    synchronized (gate) {
      while (blackholed.contains(way) && !closed && !to.isClosed()) {
        try {
          gate.wait();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          break;
        }
      }
    }
    reset(to);
  }

  private int limit() {
    synchronized (gate) {
      return (int) Math.max(1, Math.min(CHUNK, bytesPerSecond / 10));
    }
  }

  /** Waits until so many bytes may pass. */
  private void pass(int bytes, Way way) throws InterruptedException {
    synchronized (gate) {
      while (blackholed.contains(way) && !closed) {
        gate.wait();
      }
      if (bytesPerSecond != Long.MAX_VALUE) {
        TimeUnit.NANOSECONDS.timedWait(gate, TimeUnit.SECONDS.toNanos(1) * bytes / bytesPerSecond);
      }
    }
  }

  private void reset(Socket socket) {
    sockets.remove(socket);
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      LOG.atTrace().setCause(e).log("a socket was closed already");
    }
  }

  private static void daemon(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }
}
