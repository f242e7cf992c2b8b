package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.zookeeper.client.Connection;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.HandleListener;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.record.SessionIdentity;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.ObjLongConsumer;
import org.apache.zookeeper.AsyncCallback.EphemeralsCallback;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/** One lock session's connection, and how it came to be. Lives on the store's thread. */
final class SessionAttachment {

  private final StoreContext context;
  private final HandleListener listener;
  private final Duration timeout;
  private Connection connection;
  private Optional<SessionIdentity> identity = Optional.empty();
  private int grantedMillis;
  private boolean connected;
  private boolean wasConnected;

  /** Opens a new session. */
  SessionAttachment(StoreContext context, HandleListener listener) {
    this.context = context;
    this.listener = listener;
    timeout = context.settings().times().sessionTimeout();
    connection = open();
  }

  /** Attaches to a session that exists. */
  SessionAttachment(StoreContext context, HandleListener listener, AdoptedClaim adoptedClaim) {
    this.context = context;
    this.listener = listener;
    timeout = adoptedClaim.timeout();
    identity = Optional.of(adoptedClaim.session());
    connection = attach(adoptedClaim.session());
  }

  /** Returns the handle; there is one from the first time that it is connected. */
  Handle handle() {
    return connection.handle().orElseThrow();
  }

  /** Returns whether {@code asked} is the handle still. */
  boolean isCurrent(Handle asked) {
    return connection.handle().filter(current -> current == asked).isPresent();
  }

  boolean isConnected() {
    return connected;
  }

  /**
   * Takes note of a connection. Returns false if it is over by now: a later one was told that the
   * session has expired, for which ZooKeeper's client says a timeout of zero, and that is told
   * next.
   */
  boolean onConnected() {
    int granted = handle().getSessionTimeout();
    connected = granted > 0;
    wasConnected = true;
    if (connected) {
      grantedMillis = granted;
    }
    return connected;
  }

  void onDisconnected() {
    connected = false;
  }

  /** Returns when the connection began to be made. */
  long attachedAtNanos() {
    return connection.attachedAtNanos();
  }

  int grantedMillis() {
    return grantedMillis;
  }

  /**
   * Returns the timeout to count on: the one that was asked for, since a new leader of ZooKeeper
   * goes back to the one with which the session was opened.
   */
  int timeoutMillis() {
    return Math.min(grantedMillis(), (int) timeout.toMillis());
  }

  /**
   * Returns whether the timeout granted with this connection will do; tells what is wrong with it
   * otherwise.
   */
  boolean fits(Consumer<String> onUnusable) {
    Optional<String> problem =
        SessionTimeoutCheck.problemOf(context.settings(), timeout, grantedMillis());
    problem.ifPresent(onUnusable);
    return problem.isEmpty();
  }

  /** Remembers which session the connected handle has. */
  SessionIdentity identify() {
    SessionIdentity session =
        new SessionIdentity(handle().getSessionId(), handle().getSessionPasswd());
    identity = Optional.of(session);
    return session;
  }

  Optional<SessionIdentity> identity() {
    return identity;
  }

  /** Drops the dead connection and its session for a new one. */
  void startOver() {
    identity = Optional.empty();
    use(open());
  }

  private Connection open() {
    Connection opened = make();
    opened.open();
    return opened;
  }

  private Connection attach(SessionIdentity session) {
    Connection attached = make();
    attached.attach(session);
    return attached;
  }

  private Connection make() {
    return new Connection(context, Connection.Use.WRITING, timeout, listener);
  }

  /** Attaches to the same session with a new connection. */
  void again() {
    context.stats().add(StoreStats.StoreCount.REATTACHED, 1);
    use(attach(identity.orElseThrow()));
  }

  private void use(Connection next) {
    connection.abandon();
    connection = next;
    connected = false;
    wasConnected = false;
  }

  /**
   * Returns whether it was ZooKeeper that said that the session is gone. The client library says so
   * by itself when it has heard nothing for 4/3 of the timeout; a handle that attaches and is
   * refused earlier was refused by ZooKeeper.
   */
  boolean isExpiryConfirmed() {
    return !wasConnected && System.nanoTime() - connection.openedAtNanos() < timeout.toNanos();
  }

  /** Drops the handle; the session lives on. */
  void abandon() {
    connected = false;
    connection.abandon();
  }

  /** Closes the handle, and the session if the connection still stands; then runs {@code next}. */
  void close(Runnable next) {
    connected = false;
    connection.close(next);
  }

  /** Lists every node that the session owns; {@code then} gets nothing if that failed. */
  void listOwned(Consumer<Optional<List<String>>> then) {
    EphemeralsCallback onList =
        (rc, ctx, found) -> {
          boolean listed = rc == Code.OK.intValue() && found != null;
          Optional<List<String>> owned = listed ? Optional.of(found) : Optional.empty();
          context.executor().execute(() -> then.accept(owned));
        };
    connection
        .handle()
        .ifPresentOrElse(
            handle -> handle.getEphemerals(onList, null),
            () -> onList.processResult(Code.CONNECTIONLOSS.intValue(), null, null));
  }

  /** Sends a transaction; {@code then} gets the reply and the time of sending. */
  void send(List<Op> ops, ObjLongConsumer<MultiReply> then) {
    MultiCallback onReply = onReply(ops.size(), then);
    connection
        .handle()
        .ifPresentOrElse(
            handle -> handle.multi(ops, onReply, null),
            () -> onReply.processResult(Code.CONNECTIONLOSS.intValue(), "", null, List.of()));
  }

  private MultiCallback onReply(int operations, ObjLongConsumer<MultiReply> then) {
    long sentAtNanos = System.nanoTime();
    // Read on the store's thread: ZooKeeper's client would swallow what goes wrong in a callback.
    return (rc, path, ctx, results) ->
        context
            .executor()
            .execute(() -> then.accept(MultiReply.of(rc, results, operations), sentAtNanos));
  }
}
