package io.lockkeeper.server.zookeeper.client;

import io.lockkeeper.server.zookeeper.record.SessionIdentity;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session of ZooKeeper and the handle that it is reached by, for whatever needs one: opened until
 * that works, however often it fails; moved to another server when a write has not been answered
 * for long, since a machine that has vanished closes no connection. Lives on the store's thread.
 *
 * <p>After {@link HandleListener#onExpired} its user says what comes next: a new session, the same
 * one again, or nothing.
 */
public final class Connection implements HandleListener {

  /** What it is for. */
  public enum Use {
    /** Writes leave often enough to see whether they are answered, or nobody waits for them. */
    WRITING,
    /** Many small events come, and few writes leave: some are added, to see whether they arrive. */
    LISTENING
  }

  /** See {@link Connector#open}. */
  interface Opener {
    Handle open(
        Optional<SessionIdentity> session,
        Duration timeout,
        boolean listening,
        HandleListener listener)
        throws IOException;
  }

  private static final Logger LOG = LoggerFactory.getLogger(Connection.class);
  private static final long FIRST_RETRY_MILLIS = 200;
  private static final long LONGEST_RETRY_MILLIS = 5_000;
  private static final long CHECK_MILLIS = 500;
  private static final long AUTH_RETRY_MILLIS = 2_000;
  private static final long TOUCH_NANOS = TimeUnit.SECONDS.toNanos(1);

  // Where the one before was left in the middle of one: a session outlives half of its timeout.
  private static final int LONG_REPLY_SILENCES = 3;

  private static final List<Op> TOUCH = List.of(Op.check("/", Fence.ANY));

  private final StoreContext context;
  private final Use use;
  private final Duration timeout;
  private final HandleListener listener;
  private final Opener opener;
  private Optional<Handle> handle = Optional.empty();
  private Optional<SessionIdentity> session = Optional.empty();
  private OptionalLong silentSinceNanos = OptionalLong.empty();
  private boolean leftInLongReply;
  private boolean leftOne;
  private boolean connected;
  private boolean checking;
  private boolean ended;
  private String away = "there has been no connection";
  private long openedAtNanos;
  private long attachedAtNanos;
  private long retryMillis = FIRST_RETRY_MILLIS;

  public Connection(StoreContext context, Use use, Duration timeout, HandleListener listener) {
    this(context, use, timeout, listener, context.connector()::open);
  }

  Connection(
      StoreContext context, Use use, Duration timeout, HandleListener listener, Opener opener) {
    this.context = context;
    this.opener = opener;
    this.use = use;
    this.timeout = timeout;
    this.listener = listener;
  }

  /** Opens a new session. */
  public void open() {
    session = Optional.empty();
    begin();
  }

  /** Attaches to a session that exists, if it still does. */
  public void attach(SessionIdentity existing) {
    session = Optional.of(existing);
    begin();
  }

  private void begin() {
    tryOpening();
    if (!checking) {
      checking = true;
      // Never at once: nobody is told that it is connected before the opening has returned.
      context.executor().after(CHECK_MILLIS, this::check);
    }
  }

  private void tryOpening() {
    if (ended || handle.isPresent()) {
      return;
    }
    openedAtNanos = System.nanoTime();
    attachedAtNanos = openedAtNanos;
    try {
      handle = Optional.of(opener.open(session, timeout, use == Use.LISTENING, this));
    } catch (IOException | RuntimeException | Error e) {
      // Also an Error, as when there are no threads. Nothing has changed but that there is no
      // handle, as before: so this one is no reason to stop.
      LOG.atError()
          .setCause(e)
          .addKeyValue("retryMillis", retryMillis)
          .log("cannot open a handle of ZooKeeper, trying again");
      away = "cannot open a handle: " + e;
      context.executor().after(retryMillis, this::tryOpening);
      retryMillis = Math.min(2 * retryMillis, LONGEST_RETRY_MILLIS);
    }
  }

  /** Returns the handle while it is connected. */
  public Optional<Handle> connected() {
    return connected ? handle : Optional.empty();
  }

  /** Returns the handle, connected or not; empty while none can be opened. */
  public Optional<Handle> handle() {
    return handle;
  }

  /** Returns why it is not connected, for a person to read. */
  public String away() {
    return away;
  }

  /** Returns when the handle was opened, or the last attempt began. */
  public long openedAtNanos() {
    return openedAtNanos;
  }

  /** Returns when the attempt began that led to this connection, or to the last one. */
  public long attachedAtNanos() {
    return attachedAtNanos;
  }

  @Override
  public void onConnected() {
    if (connected) {
      return;
    }
    connected = true;
    retryMillis = FIRST_RETRY_MILLIS;
    handle.orElseThrow().nextConnectionSinceNanos().ifPresent(nanos -> attachedAtNanos = nanos);
    listener.onConnected();
  }

  @Override
  public void onDisconnected() {
    connected = false;
    away = "the connection to " + handle.map(Handle::server).orElse("it") + " is lost";
    listener.onDisconnected();
  }

  @Override
  public void onExpired() {
    connected = false;
    away = "the session has expired";
    handle.ifPresent(context.connector()::abandon);
    handle = Optional.empty();
    listener.onExpired();
  }

  /** Tries again in a while, with credentials that are read anew: they may be right by then. */
  @Override
  public void onAuthFailed() {
    connected = false;
    away = "ZooKeeper refuses our credentials";
    handle.ifPresent(context.connector()::abandon);
    handle = Optional.empty();
    context.problems().accessRefused(away);
    listener.onDisconnected();
    context
        .executor()
        .after(
            AUTH_RETRY_MILLIS,
            () -> {
              if (!ended) {
                listener.onAuthFailed();
              }
            });
  }

  @Override
  public void onNode(WatchedEvent event) {
    listener.onNode(event);
  }

  /** Closes the handle and its session, and has its user open another, as after its end. */
  public void renew() {
    if (!ended && handle.isPresent()) {
      Handle last = handle.get();
      connected = false;
      away = "another connection is made";
      handle = Optional.empty();
      context.connector().close(last, () -> {});
      listener.onDisconnected();
      listener.onExpired();
    }
  }

  private void check() {
    if (ended) {
      return;
    }
    if (isConnectedUntold()) {
      onConnected();
    }
    connected().ifPresent(this::check);
    context.executor().after(CHECK_MILLIS, this::check);
  }

  /**
   * Returns whether there is a connection again that nothing tells of. The client tells only what
   * differs from the last event, and the event of a node counts as one of being connected. Netty's
   * transport may read one while it drops a connection, as after a pause of this process: after
   * that the next connection is no news to the client.
   */
  private boolean isConnectedUntold() {
    return !connected && handle.filter(open -> open.getState().isConnected()).isPresent();
  }

  private void check(Handle current) {
    long now = System.nanoTime();
    OptionalLong unanswered = current.unansweredSinceNanos();
    long longestNanos = context.settings().times().longestSilence().toNanos();
    if (current.quickestAnswerNanos() < longestNanos) {
      leftOne = false;
    }
    if (unanswered.isEmpty()) {
      if (use == Use.LISTENING && now - current.sentAtNanos() >= TOUCH_NANOS) {
        current.multi(TOUCH, (rc, path, given, results) -> {}, null);
      }
      silentSinceNanos = unanswered;
    } else if (now - unanswered.getAsLong() < silences(current) * longestNanos) {
      silentSinceNanos = OptionalLong.empty();
    } else if (unanswered.equals(silentSinceNanos)) {
      silentSinceNanos = OptionalLong.empty();
      // Perhaps the whole ensemble is slow, as behind a slow leader: no session would outlive that
      // every server is left before it can have answered.
      leftOne = true;
      leave(current, now - unanswered.getAsLong());
    } else {
      // After a pause of this process the answer may be there and not be read: look again.
      silentSinceNanos = unanswered;
    }
  }

  private int silences(Handle current) {
    if (leftInLongReply && current.awaitsLongReply()) {
      return LONG_REPLY_SILENCES;
    }
    return leftOne ? 2 : 1;
  }

  private void leave(Handle current, long silenceNanos) {
    leftInLongReply = current.awaitsLongReply();
    context.stats().add(StoreStats.StoreCount.SERVERS_LEFT, 1);
    LOG.atWarn()
        .addKeyValue("server", current.server())
        .addKeyValue("seconds", TimeUnit.NANOSECONDS.toSeconds(silenceNanos))
        .log("a ZooKeeper server does not answer, trying another");
    context.connector().leaveServer(current);
  }

  /** Drops the handle, and opens no other; the session lives on. */
  public void abandon() {
    end().ifPresent(context.connector()::abandon);
  }

  /**
   * Closes the handle, and the session if it is connected, and opens no other; then runs {@code
   * closed}.
   */
  public void close(Runnable closed) {
    end().ifPresentOrElse(last -> context.connector().close(last, closed), closed);
  }

  private Optional<Handle> end() {
    Optional<Handle> last = handle;
    ended = true;
    connected = false;
    handle = Optional.empty();
    return last;
  }
}
