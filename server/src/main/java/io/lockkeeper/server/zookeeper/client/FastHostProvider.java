package io.lockkeeper.server.zookeeper.client;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;

/**
 * The servers of the ensemble as one handle tries them: with a shorter pause between two rounds of
 * attempts than the client's own second, no attempt longer than may be, and a note of when each
 * attempt that led to a connection began.
 */
final class FastHostProvider implements HostProvider {

  private static final long PAUSE_MILLIS = 100;

  private final HostProvider servers;
  private final int size;
  private final Queue<Long> connections = new ConcurrentLinkedQueue<>();
  private volatile long attemptAtNanos = System.nanoTime();
  private volatile String newest = "none";

  /**
   * Makes those of one handle.
   *
   * @param names finds their addresses
   * @param timeout the handle's session timeout
   * @param longestAttempt how long an attempt to connect may take
   */
  FastHostProvider(
      Collection<InetSocketAddress> addresses,
      StaticHostProvider.Resolver names,
      Duration timeout,
      Duration longestAttempt) {
    servers = new StaticHostProvider(addresses, names);
    size = (int) Math.max(servers.size(), timeout.dividedBy(longestAttempt));
  }

  /** Returns what the client divides the session timeout by: an attempt may take that long. */
  @Override
  public int size() {
    return size;
  }

  @Override
  public InetSocketAddress next(long spinDelayMillis) {
    InetSocketAddress next = servers.next(Math.min(spinDelayMillis, PAUSE_MILLIS));
    attemptAtNanos = System.nanoTime();
    newest = next.getHostString() + ":" + next.getPort();
    return next;
  }

  @Override
  public void onConnected() {
    connections.add(attemptAtNanos);
    servers.onConnected();
  }

  /**
   * Returns when the attempt began that led to the next connection; to be asked once for each
   * connection that is told, in their order. Empty if there was none: then nothing is known of it.
   */
  OptionalLong nextConnectionSinceNanos() {
    Long since = connections.poll();
    return since == null ? OptionalLong.empty() : OptionalLong.of(since);
  }

  /** Returns the server that was tried last. */
  String newest() {
    return newest;
  }

  /** Has the client leave the server that it is at, and try the next. */
  @Override
  public boolean updateServerList(
      Collection<InetSocketAddress> serverAddresses, InetSocketAddress currentHost) {
    return true;
  }
}
