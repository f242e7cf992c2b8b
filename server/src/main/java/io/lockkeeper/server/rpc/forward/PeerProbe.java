package io.lockkeeper.server.rpc.forward;

import io.lockkeeper.server.rpc.call.SteadyTimer;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Locale;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at ports of peers, each look on a thread of its own: a connect may block, and to look a
 * name up may take many seconds, in which other peers may die.
 */
final class PeerProbe implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(PeerProbe.class);
  private static final int LOOKS = 3;
  private static final long BETWEEN_LOOKS_MILLIS = 60;
  private static final int CONNECT_MILLIS = 150;
  private static final long LATER_MILLIS = 500;
  private static final long IDLE_SECONDS = 5;

  private final SteadyTimer timer;
  private final ThreadPoolExecutor lookers;
  private final Predicate<String> port;

  PeerProbe(ThreadFactory threads) {
    this(threads, PeerProbe::refuses);
  }

  /**
   * Prepares.
   *
   * @param port says whether a port refuses connections; may block
   */
  PeerProbe(ThreadFactory threads, Predicate<String> port) {
    this.port = port;
    timer = new SteadyTimer(threads);
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    // There is one look at a time for each peer, and peers are few.
    lookers =
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            threads);
  }

  /** Runs {@code next} half a second from now, if not closed by then. */
  void later(Runnable next) {
    schedule(next, LATER_MILLIS);
  }

  /**
   * Tells whether the port refuses connections, each time of some. One that takes a connection, or
   * says nothing, does not.
   */
  void look(String address, Consumer<Boolean> onSeen) {
    look(address, 1, onSeen);
  }

  private void look(String address, int count, Consumer<Boolean> onSeen) {
    unlessClosed(
        () ->
            lookers.execute(
                () -> {
                  boolean refused = port.test(address);
                  if (refused && count < LOOKS) {
                    schedule(() -> look(address, count + 1, onSeen), BETWEEN_LOOKS_MILLIS);
                  } else {
                    onSeen.accept(refused);
                  }
                }));
  }

  private void schedule(Runnable task, long delayMillis) {
    unlessClosed(
        () -> {
          var unused = timer.schedule(task, delayMillis, TimeUnit.MILLISECONDS);
        });
  }

  private static void unlessClosed(Runnable start) {
    try {
      start.run();
    } catch (RejectedExecutionException e) {
      LOG.atDebug().setCause(e).log("No more looks at peers");
    }
  }

  private static boolean refuses(String address) {
    int colon = address.lastIndexOf(':');
    try (Socket socket = new Socket()) {
      String host = address.substring(0, colon);
      int port = Integer.parseInt(address.substring(colon + 1));
      socket.connect(new InetSocketAddress(host, port), CONNECT_MILLIS);
      return false;
    } catch (ConnectException e) {
      return String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT).contains("refused");
    } catch (IOException | IllegalArgumentException | IndexOutOfBoundsException e) {
      LOG.atDebug().setCause(e).addKeyValue("address", address).log("A port cannot be looked at");
      return false;
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
    lookers.shutdownNow();
  }
}
