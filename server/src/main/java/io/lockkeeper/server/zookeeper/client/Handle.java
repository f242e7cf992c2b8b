package io.lockkeeper.server.zookeeper.client;

import io.lockkeeper.server.zookeeper.record.SessionIdentity;
import java.io.IOException;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.AsyncCallback.ChildrenCallback;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * A client handle that can be dropped without ending its session, can leave the server that it is
 * at, and knows for how long a write has not been answered.
 */
public final class Handle extends ZooKeeper {

  private final EventRelay relay;
  private final FastHostProvider hosts;
  private final String servers;
  // When the writes that are not answered were sent: ZooKeeper answers them in their order.
  private final Queue<Long> unanswered = new ConcurrentLinkedQueue<>();
  private final AtomicLong quickestNanos = new AtomicLong(Long.MAX_VALUE);
  private final AtomicInteger longReplies = new AtomicInteger();
  private volatile long sentAtNanos = System.nanoTime();

  /** Opens a handle with a new session. */
  Handle(
      String servers,
      int timeoutMillis,
      EventRelay relay,
      FastHostProvider hosts,
      ZKClientConfig config)
      throws IOException {
    super(servers, timeoutMillis, relay, false, hosts, config);
    this.servers = servers;
    this.relay = relay;
    this.hosts = hosts;
  }

  /** Opens a handle on a session that exists, if it still does. */
  Handle(
      String servers,
      int timeoutMillis,
      EventRelay relay,
      SessionIdentity session,
      FastHostProvider hosts,
      ZKClientConfig config)
      throws IOException {
    super(servers, timeoutMillis, relay, session.id(), session.password(), false, hosts, config);
    this.servers = servers;
    this.relay = relay;
    this.hosts = hosts;
  }

  @Override
  public void multi(Iterable<Op> ops, MultiCallback callback, @Nullable Object context) {
    sentAtNanos = System.nanoTime();
    unanswered.add(sentAtNanos);
    super.multi(
        ops,
        (rc, path, given, results) -> {
          long tookNanos = System.nanoTime() - unanswered.remove();
          if (rc != Code.CONNECTIONLOSS.intValue()) {
            quickestNanos.accumulateAndGet(tookNanos, Math::min);
          }
          callback.processResult(rc, path, given, results);
        },
        context);
  }

  /** Lists the children of a node that may have very many, which takes its time. */
  void listMany(String path, ChildrenCallback callback) {
    longReplies.incrementAndGet();
    super.getChildren(
        path,
        false,
        (rc, asked, given, names) -> {
          longReplies.decrementAndGet();
          callback.processResult(rc, asked, given, names);
        },
        null);
  }

  /** Returns whether a reply is awaited behind which others may wait for long. */
  boolean awaitsLongReply() {
    return longReplies.get() > 0;
  }

  /** Reads several nodes with one reply, each with a result of its own. */
  void readTogether(Iterable<Op> reads, MultiCallback callback) {
    super.multi(reads, callback, null);
  }

  /** Returns when the oldest transaction was sent that is not answered. */
  OptionalLong unansweredSinceNanos() {
    Long oldest = unanswered.peek();
    return oldest == null ? OptionalLong.empty() : OptionalLong.of(oldest);
  }

  /**
   * Returns how long that answer took that took the shortest since this was asked last; if there
   * was none, longer than anything.
   */
  long quickestAnswerNanos() {
    return quickestNanos.getAndSet(Long.MAX_VALUE);
  }

  /** Returns when the newest transaction was sent. */
  long sentAtNanos() {
    return sentAtNanos;
  }

  /** Returns the server that it is at, or tries. */
  public String server() {
    return hosts.newest();
  }

  /** See {@link FastHostProvider#nextConnectionSinceNanos}. */
  OptionalLong nextConnectionSinceNanos() {
    return hosts.nextConnectionSinceNanos();
  }

  /**
   * Leaves the server that it is at for another; the session goes on there, and its watches. What
   * is under way is answered that the connection is lost. May block for a moment.
   */
  void leaveServer() {
    try {
      updateServerList(servers);
    } catch (IOException e) {
      LoggerFactory.getLogger(Handle.class).atDebug().setCause(e).log("it was left already");
    }
  }

  /** Ends the session and all its ephemerals, if it is connected. Blocks. */
  @Override
  public synchronized void close() {
    try {
      super.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Tells nothing more to the listener. */
  void silence() {
    relay.silence();
  }

  /**
   * Drops the connection and ends the threads, and sends nothing: the session and its ephemerals
   * live on until the timeout. {@link #close} would destroy them. May block for about a second.
   */
  public void abandon() {
    relay.silence();
    cnxn.disconnect();
  }
}
