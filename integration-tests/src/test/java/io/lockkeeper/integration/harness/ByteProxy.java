package io.lockkeeper.integration.harness;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** The two directions of a connection. */
  public enum Way {
    /** From those who connect to the target. */
    IN,
    /** From the target to those who connect. */
    OUT
  }

  private final InetSocketAddress address;
  private final int targetPort;
  private final long patienceNanos;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final Object gate = new Object();
  private final Set<Way> blackholed = EnumSet.noneOf(Way.class);
  private ServerSocket listener;
  private boolean closed;
  private long bytesPerSecond = Long.MAX_VALUE;
  private long delayNanos;

  /** What was read and is not written yet. */
  private record Taken(ByteBuffer bytes, long dueNanos) {}

  private ByteProxy(InetSocketAddress address, int targetPort, Duration patience)
      throws IOException {
    this.patienceNanos = patience.toNanos();
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
    return at(address, targetPort, Duration.ZERO);
  }

  /**
   * Like {@link #at(InetSocketAddress, int)}, for clients to whom a connection that is refused and
   * one that breaks at once are not the same: keeps trying to reach the target for so long.
   */
  public static ByteProxy at(InetSocketAddress address, int targetPort, Duration patience) {
    try {
      return new ByteProxy(address, targetPort, patience);
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

  /** Returns how many connections pass through it. */
  public int connections() {
    return sockets.size() / 2;
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
      delayNanos = 0;
      gate.notifyAll();
    }
  }

  /** What is taken in from now on leaves so much later, in each direction. */
  public void delay(Duration each) {
    synchronized (gate) {
      delayNanos = each.toNanos();
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
        Socket near = socket.accept();
        near.setTcpNoDelay(true);
        sockets.add(near);
        daemon("proxy-connect", () -> connect(near));
      }
    } catch (IOException e) {
      LOG.atDebug().setCause(e).log("the proxy accepts no more");
    }
  }

  private void connect(Socket near) {
    final long untilNanos = System.nanoTime() + patienceNanos;
    Optional<Socket> far = reach();
    while (far.isEmpty() && sockets.contains(near) && System.nanoTime() - untilNanos < 0) {
      LockSupport.parkNanos(RETRY_NANOS);
      far = reach();
    }
    if (far.isEmpty()) {
      reset(near);
      return;
    }
    Socket reached = far.get();
    daemon("proxy-in", () -> pump(near, reached, Way.IN));
    daemon("proxy-out", () -> pump(reached, near, Way.OUT));
  }

  private Optional<Socket> reach() {
    Socket far = new Socket();
    sockets.add(far);
    try {
      far.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), targetPort), 2_000);
      far.setTcpNoDelay(true);
      return Optional.of(far);
    } catch (IOException e) {
      reset(far);
      return Optional.empty();
    }
  }

  private void pump(Socket from, Socket to, Way way) {
    Queue<Taken> taken = new ArrayDeque<>();
    try {
      OutputStream out = to.getOutputStream();
      byte[] chunk = new byte[CHUNK];
      for (int read = read(from, chunk, taken); read >= 0; read = read(from, chunk, taken)) {
        if (read > 0) {
          taken.add(new Taken(ByteBuffer.wrap(Arrays.copyOf(chunk, read)), dueNanos()));
        }
        while (!taken.isEmpty() && taken.peek().dueNanos() - System.nanoTime() <= 0) {
          write(taken.remove(), out, way);
        }
      }
      while (!taken.isEmpty()) {
        write(taken.remove(), out, way);
      }
    } catch (IOException e) {
      LOG.atTrace().setCause(e).log("a connection through the proxy ended");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      end(from, to, way);
    }
  }

  /** Reads until the first of what was taken is due; returns 0 if nothing came before that. */
  private int read(Socket from, byte[] chunk, Queue<Taken> taken) throws IOException {
    long waitMillis = 0; // For ever.
    if (!taken.isEmpty()) {
      long leftNanos = taken.element().dueNanos() - System.nanoTime();
      waitMillis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(leftNanos));
    }
    from.setSoTimeout((int) waitMillis);
    try {
      return from.getInputStream().read(chunk, 0, limit());
    } catch (SocketTimeoutException due) {
      return 0;
    }
  }

  private long dueNanos() {
    synchronized (gate) {
      return System.nanoTime() + delayNanos;
    }
  }

  private void write(Taken taken, OutputStream out, Way way)
      throws IOException, InterruptedException {
    pass(taken.bytes().remaining(), way);
    out.write(taken.bytes().array());
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
