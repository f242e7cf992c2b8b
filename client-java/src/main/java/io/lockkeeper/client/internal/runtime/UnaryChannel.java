package io.lockkeeper.client.internal.runtime;

import io.grpc.ManagedChannel;
import io.lockkeeper.client.internal.session.Session;
import io.lockkeeper.client.internal.transport.ServerList;
import java.util.Optional;

/** The connection that all unary calls of one client share. For any thread. */
final class UnaryChannel implements AutoCloseable {

  private final ServerList servers;
  private Optional<ManagedChannel> channel = Optional.empty();
  private boolean closed;

  /** Makes one that connects when it is first used. */
  UnaryChannel(ServerList servers) {
    this.servers = servers;
  }

  /**
   * Returns the connection, to the current server.
   *
   * @throws IllegalStateException if it is closed
   */
  synchronized ManagedChannel open() {
    if (closed) {
      throw new IllegalStateException(Session.CLOSED);
    }
    if (channel.isEmpty()) {
      lookUp();
    }
    ManagedChannel open = channel.orElseGet(servers::connect);
    channel = Optional.of(open);
    return open;
  }

  private void lookUp() {
    try {
      servers.refresh();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // The call that follows notices it.
    }
  }

  /** Returns how many servers there are. */
  synchronized int count() {
    return servers.count();
  }

  /** Returns for how long the current server is to be left alone yet. */
  synchronized long aloneNanos() {
    return servers.aloneNanos(System.nanoTime());
  }

  /**
   * Uses another server, if the calls still use the one that failed.
   *
   * @param via the connection that failed
   * @param aloneNanos how long its server wants to be left alone
   * @return the server that failed, human-readable
   */
  synchronized String moveOn(ManagedChannel via, long aloneNanos) {
    String failed = servers.current();
    if (channel.filter(via::equals).isPresent()) {
      via.shutdownNow();
      channel = Optional.empty();
      servers.leaveAlone(System.nanoTime(), aloneNanos);
      servers.moveOn(System.nanoTime());
    }
    return failed;
  }

  @Override
  public synchronized void close() {
    closed = true;
    channel.ifPresent(ManagedChannel::shutdownNow);
  }
}
