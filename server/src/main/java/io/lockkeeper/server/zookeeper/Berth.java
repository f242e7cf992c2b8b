package io.lockkeeper.server.zookeeper;

import java.util.Optional;
import org.apache.zookeeper.WatchedEvent;

/**
 * The mirror's handle, and the place on it for one lock session: what the watch tells of that
 * session's writes then comes on the same connection as their answers, just ahead of them, and
 * wakes up nobody of its own. Lives on the store's thread.
 *
 * <p>The lock session may leave: when it is proved to own nothing and its claim is removed, without
 * the handle, which the mirror keeps; otherwise with it, as it must if the session is to live on or
 * to end, and then the mirror gets another handle and another session. No session is a lock session
 * twice, since its claim bears its id.
 */
final class Berth implements HandleListener {

  private final StoreContext context;
  private final HandleListener mirror;
  private Optional<Connection> connection = Optional.empty();
  private Optional<HandleListener> passenger = Optional.empty();
  private boolean connected;
  private boolean used;

  Berth(StoreContext context, HandleListener mirror) {
    this.context = context;
    this.mirror = mirror;
  }

  /** Opens a new session for the mirror. */
  void open() {
    used = false;
    Connection opened =
        new Connection(
            context, Connection.Use.LISTENING, context.settings().sessionTimeout(), this);
    connection = Optional.of(opened);
    opened.open();
  }

  /** Returns the mirror's connection. */
  Optional<Connection> connection() {
    return connection;
  }

  /**
   * Returns the mirror's connection for a new lock session, which hears of the connection after the
   * mirror, or nothing if the place is or was taken.
   */
  Optional<Connection> board(HandleListener session) {
    if (connection.isEmpty() || used) {
      return Optional.empty();
    }
    used = true;
    passenger = Optional.of(session);
    if (connected) {
      context.thread().execute(() -> greet(session));
    }
    return connection;
  }

  private void greet(HandleListener session) {
    if (connected && carries(session)) {
      session.onConnected();
    }
  }

  /** Returns whether a lock session is here. */
  boolean carries(HandleListener session) {
    return passenger.filter(aboard -> aboard == session).isPresent();
  }

  /** Lets a lock session go that owns nothing and has no claim; returns whether it was here. */
  boolean leave(HandleListener session) {
    boolean here = carries(session);
    if (here) {
      passenger = Optional.empty();
    }
    return here;
  }

  /** Lets a lock session go that takes {@code its} connection with it, if that is the mirror's. */
  void leaveWith(Connection its) {
    if (connection.filter(current -> current == its).isPresent()) {
      drop();
      mirror.onExpired();
    }
  }

  private void drop() {
    connection = Optional.empty();
    passenger = Optional.empty();
    connected = false;
  }

  @Override
  public void onConnected() {
    connected = true;
    mirror.onConnected();
    passenger.ifPresent(HandleListener::onConnected);
  }

  @Override
  public void onDisconnected() {
    connected = false;
    mirror.onDisconnected();
    passenger.ifPresent(HandleListener::onDisconnected);
  }

  @Override
  public void onExpired() {
    Optional<HandleListener> session = passenger;
    connection.ifPresent(Connection::abandon);
    drop();
    mirror.onExpired();
    session.ifPresent(HandleListener::onExpired);
  }

  @Override
  public void onNode(WatchedEvent event) {
    mirror.onNode(event);
  }

  /**
   * Ends the handle, and its session if it is connected and no lock session is left on it; then
   * runs {@code closed}.
   */
  void stop(Runnable closed) {
    Optional<Connection> last = connection;
    // Closing waits for an answer, which a handle without a connection may not get for long.
    boolean closable = connected && passenger.isEmpty();
    drop();
    if (last.isPresent() && closable) {
      last.get().close(closed);
    } else {
      last.ifPresent(Connection::abandon);
      closed.run();
    }
  }
}
