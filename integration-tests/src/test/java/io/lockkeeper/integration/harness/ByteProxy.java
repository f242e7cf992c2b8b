package io.lockkeeper.integration.harness;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A TCP proxy on the loopback that misbehaves on demand. Blackholed, it accepts connections and
 * passes nothing on; what it has taken in is delivered when it heals, as TCP would after a
 * partition.
 */
public final class ByteProxy implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ByteProxy.class);
  private static final int CHUNK = 8192;

  private final ServerSocket listener;
  private final int targetPort;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final Object gate = new Object();
  private boolean blackholed;
  private boolean closed;
  private long bytesPerSecond = Long.MAX_VALUE;

  private ByteProxy(ServerSocket listener, int targetPort) {
    this.listener = listener;
    this.targetPort = targetPort;
  }

  /** Starts a proxy in front of a port of this machine. */
  public static ByteProxy to(int targetPort) {
    try {
      ServerSocket listener = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
      ByteProxy proxy = new ByteProxy(listener, targetPort);
      daemon("proxy-accept", proxy::acceptAll);
      return proxy;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns where the proxy listens. */
  public int port() {
    return listener.getLocalPort();
  }

  /** Returns {@link #port()} as {@code host:port}. */
  public String address() {
    return "127.0.0.1:" + port();
  }

  /** From now on nothing passes, in either direction, and no connection breaks. */
  public void blackhole() {
    synchronized (gate) {
      blackholed = true;
    }
  }

  /** Everything passes again, what was held back first. */
  public void heal() {
    synchronized (gate) {
      blackholed = false;
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
    }
    try {
      listener.close();
    } catch (IOException e) {
      LOG.atDebug().setCause(e).log("the listener was closed already");
    }
    cut();
  }

  private void acceptAll() {
    try {
      while (true) {
        connect(listener.accept());
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
    daemon("proxy-in", () -> pump(near, far));
    daemon("proxy-out", () -> pump(far, near));
  }

  private void pump(Socket from, Socket to) {
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] chunk = new byte[CHUNK];
      for (int read = in.read(chunk, 0, limit()); read >= 0; read = in.read(chunk, 0, limit())) {
        pass(read);
        out.write(chunk, 0, read);
      }
    } catch (IOException e) {
      LOG.atTrace().setCause(e).log("a connection through the proxy ended");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      reset(from);
      reset(to);
    }
  }

  private int limit() {
    synchronized (gate) {
      return (int) Math.max(1, Math.min(CHUNK, bytesPerSecond / 10));
    }
  }

  /** Waits until so many bytes may pass. */
  private void pass(int bytes) throws InterruptedException {
    synchronized (gate) {
      while (blackholed && !closed) {
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
