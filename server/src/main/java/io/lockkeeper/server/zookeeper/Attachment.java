package io.lockkeeper.server.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.ObjLongConsumer;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/** One session's current handle, and how it came to be. Lives on the store's thread. */
final class Attachment {

  private final StoreContext context;
  private final Berth berth;
  private final HandleListener listener;
  private final Duration timeout;
  private Handle handle;
  private Optional<SessionIdentity> identity = Optional.empty();
  private long sinceNanos;
  private boolean connected;
  private boolean wasConnected;
  private boolean claimLetGo;

  /** Shares the mirror's handle, or opens one, with a new session. */
  Attachment(SessionServices services, HandleListener listener) {
    context = services.context();
    berth = services.berth();
    this.listener = listener;
    timeout = context.settings().sessionTimeout();
    sinceNanos = System.nanoTime();
    handle = open();
  }

  /** Attaches to a session that exists. */
  Attachment(SessionServices services, HandleListener listener, Taken taken) {
    context = services.context();
    berth = services.berth();
    this.listener = listener;
    timeout = taken.timeout(context.settings());
    identity = Optional.of(taken.session());
    sinceNanos = System.nanoTime();
    handle = context.connector().attach(taken.session(), timeout, listener);
  }

  Handle handle() {
    return handle;
  }

  boolean isConnected() {
    return connected;
  }

  void onConnected() {
    connected = true;
    wasConnected = true;
  }

  void onDisconnected() {
    connected = false;
  }

  /** Returns when the connection began to be made, or earlier. */
  long attachedAtNanos() {
    return sinceNanos;
  }

  int grantedMillis() {
    return handle.getSessionTimeout();
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
        SessionLimits.problemOf(context.settings(), timeout, grantedMillis());
    problem.ifPresent(onUnusable);
    return problem.isEmpty();
  }

  /** Remembers which session the connected handle has. */
  SessionIdentity identify() {
    SessionIdentity session = new SessionIdentity(handle.getSessionId(), handle.getSessionPasswd());
    identity = Optional.of(session);
    return session;
  }

  Optional<SessionIdentity> identity() {
    return identity;
  }

  /** Drops the dead handle and its session for a new one. */
  void startOver() {
    identity = Optional.empty();
    use(open());
  }

  private Handle open() {
    return berth.board(listener).orElseGet(() -> context.connector().open(timeout, listener));
  }

  /** Attaches to the same session with a new handle. */
  void again() {
    context.stats().add(StoreStats.Count.REATTACHED, 1);
    use(context.connector().attach(identity.orElseThrow(), timeout, listener));
  }

  private void use(Handle next) {
    // It is dead, and the mirror has heard of that if it was the mirror's.
    handle.silence();
    handle = next;
    sinceNanos = System.nanoTime();
    connected = false;
    wasConnected = false;
  }

  /**
   * Returns whether it was ZooKeeper that said that the session is gone. The client library says so
   * by itself when it has heard nothing for 4/3 of the timeout; a handle that attaches and is
   * refused earlier was refused by ZooKeeper.
   */
  boolean isExpiryConfirmed() {
    return !wasConnected && System.nanoTime() - sinceNanos < timeout.toNanos();
  }

  /** Drops the handle; the session lives on. */
  void abandon() {
    connected = false;
    context.connector().abandon(handle);
    berth.leaveWith(handle);
  }

  /** The session's claim is about to be removed. */
  void letGoOfClaim() {
    claimLetGo = true;
  }

  /** Returns whether the session's claim may have been removed by us. */
  boolean isClaimLetGo() {
    return claimLetGo;
  }

  /** Returns whether the handle is the mirror's as well. */
  boolean isShared() {
    return berth.carries(listener);
  }

  /** Leaves a handle that stays with the mirror; returns false, and does nothing, if it is not. */
  boolean leave() {
    boolean left = berth.leave(listener);
    connected = connected && !left;
    return left;
  }

  /** Closes the handle, and the session if the connection still stands; then runs {@code next}. */
  void close(Runnable next) {
    connected = false;
    context.connector().close(handle, next);
    berth.leaveWith(handle);
  }

  /** Lists every node that the session owns; {@code then} gets nothing if that failed. */
  void listOwned(Consumer<Optional<List<String>>> then) {
    handle.getEphemerals(
        (rc, ctx, found) -> {
          boolean listed = rc == Code.OK.intValue() && found != null;
          Optional<List<String>> owned = listed ? Optional.of(found) : Optional.empty();
          context.thread().execute(() -> then.accept(owned));
        },
        null);
  }

  /** Sends a transaction; {@code then} gets the reply and the time of sending. */
  void send(Transaction transaction, ObjLongConsumer<MultiReply> then) {
    List<Op> ops = transaction.ops();
    MultiCallback onReply = onReply(ops.size(), then);
    handle.multi(ops, context.connector().own().leaving(transaction.nodes(), onReply), null);
  }

  /** Sends what concerns no queue. */
  void send(List<Op> ops, ObjLongConsumer<MultiReply> then) {
    handle.multi(ops, onReply(ops.size(), then), null);
  }

  private MultiCallback onReply(int operations, ObjLongConsumer<MultiReply> then) {
    long sentAtNanos = System.nanoTime();
    // Read on the store's thread: ZooKeeper's client would swallow what goes wrong in a callback.
    return (rc, path, ctx, results) ->
        context
            .thread()
            .execute(() -> then.accept(MultiReply.of(rc, results, operations), sentAtNanos));
  }
}
