package io.lockkeeper.server.zookeeper;

import java.io.IOException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.ZKClientConfig;

/** A client handle that can be dropped without ending its session. */
final class Handle extends ZooKeeper {

  private final EventRelay relay;

  Handle(
      String connect,
      int timeoutMillis,
      EventRelay relay,
      HostProvider hosts,
      ZKClientConfig config)
      throws IOException {
    super(connect, timeoutMillis, relay, false, hosts, config);
    this.relay = relay;
  }

  Handle(
      String connect,
      int timeoutMillis,
      EventRelay relay,
      SessionIdentity session,
      HostProvider hosts,
      ZKClientConfig config)
      throws IOException {
    super(connect, timeoutMillis, relay, session.id(), session.password(), false, hosts, config);
    this.relay = relay;
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
  void abandon() {
    relay.silence();
    cnxn.disconnect();
  }
}
