package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.FencingToken;
import io.lockkeeper.server.core.SessionKey;
import io.lockkeeper.server.core.StoreEvent.SessionEnded;
import io.lockkeeper.server.core.StoreEvent.SessionOpened;
import io.lockkeeper.server.core.StoreEvent.SessionProved;
import io.lockkeeper.server.core.StoreEvent.SessionSuspended;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.Stat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One lock session: its handle, its claim, and the writes on it. Lives on the store's thread.
 *
 * <pre>
 *             connected            claim written          barrier passed, doubts resolved
 *  CONNECTING ---------> CLAIMING ---------------> PROVING ------------------------------> OPEN
 *                                                     ^                                     |
 *                              connected, none in     |   disconnected, doubt, expired      |
 *                              flight                 +------------- SUSPENDED <------------+
 *
 *  any --(claim check fails: deposed; expiry confirmed by ZooKeeper; closed)--> ENDED
 * </pre>
 *
 * <p>When the client library gives a session up, that is no proof that it is gone: the session is
 * attached to again, and only ZooKeeper's own refusal ends it.
 */
final class StoreSession implements HandleListener, GroupCommit.Lane {

  private static final Logger LOG = LoggerFactory.getLogger(StoreSession.class);
  private static final long PROOF_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long RETRY_MILLIS = 200;
  private static final int EPOCH = 0;

  private enum State {
    CONNECTING,
    CLAIMING,
    PROVING,
    OPEN,
    SUSPENDED,
    ENDED
  }

  private final SessionKey key;
  private final StoreContext context;
  private final Layout layout;
  private final ClaimRemoval claims;
  private final GroupCommit commit;
  private State state = State.CONNECTING;
  private Handle handle;
  private Optional<SessionIdentity> identity = Optional.empty();
  private long handleSince;
  private boolean handleWasConnected;
  private boolean connected;
  private boolean told;
  private boolean suspendedTold;
  private boolean closing;
  private long proofs;
  private long lastProofNanos;

  StoreSession(SessionKey key, StoreContext context, Layout layout, ClaimRemoval claims) {
    this.key = key;
    this.context = context;
    this.layout = layout;
    this.claims = claims;
    commit = new GroupCommit(this, context);
    handleSince = System.nanoTime();
    handle = context.connector().open(timeout(), this);
  }

  private Duration timeout() {
    return context.settings().sessionTimeout();
  }

  GroupCommit commit() {
    return commit;
  }

  boolean hasEnded() {
    return state == State.ENDED;
  }

  /** Returns the name of the claim record, once there may be one. */
  Optional<String> claimName() {
    return identity.map(session -> StorePaths.claimName(session.id()));
  }

  @Override
  public void onConnected() {
    connected = true;
    handleWasConnected = true;
    switch (state) {
      case CONNECTING -> claim();
      case CLAIMING -> writeClaim();
      case SUSPENDED -> prove();
      case PROVING, OPEN, ENDED -> {
        // The proof under way goes on, or fails and starts again.
      }
    }
  }

  private void claim() {
    Optional<String> problem =
        SessionLimits.problemOf(context.settings(), handle.getSessionTimeout());
    if (problem.isPresent()) {
      context.onUnusable().accept(problem.get());
      end(false);
      context.connector().close(handle, () -> {});
      return;
    }
    identity = Optional.of(new SessionIdentity(handle.getSessionId(), handle.getSessionPasswd()));
    state = State.CLAIMING;
    writeClaim();
  }

  private void writeClaim() {
    layout.whenReady(
        () -> {
          if (state == State.CLAIMING && connected) {
            Handle current = handle;
            SessionIdentity session = identity.orElseThrow();
            byte[] data =
                ClaimRecord.write(
                    context.settings().coordinatorId(), session, current.getSessionTimeout());
            current.create(
                context.paths().claim(session.id()),
                data,
                Ids.OPEN_ACL_UNSAFE,
                CreateMode.PERSISTENT,
                (rc, path, ctx, name, stat) ->
                    context
                        .thread()
                        .execute(() -> onClaimed(current, rc, Optional.ofNullable(stat))),
                null);
          }
        });
  }

  private void onClaimed(Handle asked, int rc, Optional<Stat> stat) {
    if (asked != handle || state != State.CLAIMING) {
      return;
    }
    stat.ifPresent(created -> checkEpoch(created.getCzxid()));
    Verdict verdict = Verdict.of(rc);
    if (verdict == Verdict.DONE || rc == Code.NODEEXISTS.intValue()) {
      // Session ids are never used twice: a record that exists is ours, its first answer was lost.
      state = State.SUSPENDED;
      prove();
      return;
    }
    if (rc == Code.NONODE.intValue()) {
      layout.ensure();
    }
    if (verdict != Verdict.IN_DOUBT) {
      LOG.atWarn()
          .addKeyValue("session", key)
          .addKeyValue("error", Verdict.name(rc))
          .log("claim refused, trying again");
    }
    // In doubt it would come with the next connection too, unless that is here already.
    context.thread().after(RETRY_MILLIS, () -> retryClaim(asked));
  }

  private void retryClaim(Handle asked) {
    if (asked == handle && state == State.CLAIMING && connected) {
      writeClaim();
    }
  }

  private void checkEpoch(long zxid) {
    if (zxid >>> Integer.SIZE > FencingToken.MAX_EPOCH) {
      context
          .onUnusable()
          .accept(
              "ZooKeeper's epoch does not fit a fencing token: zxid 0x" + Long.toHexString(zxid));
    }
  }

  /** Proves the session on a fresh connection, then resolves what is in doubt, then opens it. */
  private void prove() {
    if (state != State.SUSPENDED || !connected || commit.inFlight() > 0) {
      return;
    }
    state = State.PROVING;
    long proof = ++proofs;
    multi(List.of(fence()), (reply, sentAt) -> onProof(proof, reply, sentAt));
  }

  private void onProof(long proof, MultiReply reply, long sentAt) {
    if (proof != proofs || state != State.PROVING) {
      return;
    }
    if (reply instanceof MultiReply.Committed) {
      tellProof(sentAt, true);
      if (closing) {
        closeHandle();
      } else {
        new DoubtResolution(handle, context, commit, () -> opened(proof), () -> suspendAgain(proof))
            .start();
      }
    } else if (isDeposed(reply)) {
      onFenceFailed();
    } else {
      suspendAgain(proof);
    }
  }

  private static boolean isDeposed(MultiReply reply) {
    return reply instanceof MultiReply.Culprit culprit && Fence.isBroken(culprit.code());
  }

  private void opened(long proof) {
    if (proof != proofs || state != State.PROVING) {
      return;
    }
    if (closing) {
      closeHandle();
    } else {
      state = State.OPEN;
      commit.resolved();
      commit.open();
    }
  }

  private void suspendAgain(long proof) {
    if (proof == proofs && state == State.PROVING) {
      state = State.SUSPENDED;
      proveSoon();
    }
  }

  private void proveSoon() {
    context.thread().after(RETRY_MILLIS, this::prove);
  }

  private void tellProof(long sentAt, boolean always) {
    if (!told) {
      told = true;
      lastProofNanos = sentAt;
      long timeoutNanos = TimeUnit.MILLISECONDS.toNanos(handle.getSessionTimeout());
      context.events().accept(new SessionOpened(key, timeoutNanos, sentAt));
    } else if (always || suspendedTold || sentAt - lastProofNanos >= PROOF_INTERVAL_NANOS) {
      suspendedTold = false;
      lastProofNanos = sentAt;
      context.events().accept(new SessionProved(key, sentAt));
    }
  }

  @Override
  public void onDisconnected() {
    connected = false;
    suspend();
  }

  private void suspend() {
    if (state == State.OPEN || state == State.PROVING) {
      state = State.SUSPENDED;
      commit.hold();
    }
    if (told && state != State.ENDED && !suspendedTold) {
      suspendedTold = true;
      context.events().accept(new SessionSuspended(key));
    }
  }

  @Override
  public void onExpired() {
    connected = false;
    suspend();
    if (state == State.ENDED) {
      return;
    }
    if (state == State.CONNECTING || state == State.CLAIMING) {
      // Nothing was on it yet: a fresh session will do.
      claimName().ifPresent(claims::remove);
      identity = Optional.empty();
      state = State.CONNECTING;
      use(context.connector().open(timeout(), this));
    } else if (isConfirmed()) {
      end(false);
    } else {
      attach();
    }
  }

  /**
   * Returns whether ZooKeeper itself said that the session is gone. The library says so by itself
   * only when it has heard nothing for 4/3 of the timeout; a handle that attaches and is refused
   * earlier was refused by ZooKeeper.
   */
  private boolean isConfirmed() {
    return !handleWasConnected && System.nanoTime() - handleSince < timeout().toNanos();
  }

  private void attach() {
    use(context.connector().attach(identity.orElseThrow(), timeout(), this));
    context.stats().add(StoreStats.Count.REATTACHED, 1);
    LOG.atInfo()
        .addKeyValue("session", key)
        .log("attaching to the session again, to learn whether it lives");
  }

  private void use(Handle next) {
    handle.silence();
    handle = next;
    handleSince = System.nanoTime();
    handleWasConnected = false;
  }

  private void end(boolean deposed) {
    if (state == State.ENDED) {
      return;
    }
    state = State.ENDED;
    commit.end();
    if (!deposed) {
      claimName().ifPresent(claims::remove);
    }
    LOG.atInfo()
        .addKeyValue("session", key)
        .addKeyValue("deposed", deposed)
        .log("lock session ended");
    context.events().accept(new SessionEnded(key, deposed));
  }

  @Override
  public void onFenceFailed() {
    if (state != State.ENDED) {
      context.connector().abandon(handle);
      end(true);
    }
  }

  /** Proves the session now; if that cannot be done, the next connection does it. */
  void proveNow() {
    if (state == State.OPEN) {
      Handle current = handle;
      multi(List.of(fence()), (reply, sentAt) -> onExtraProof(current, reply, sentAt));
    }
  }

  private void onExtraProof(Handle asked, MultiReply reply, long sentAt) {
    if (state == State.ENDED || asked != handle) {
      return;
    }
    if (reply instanceof MultiReply.Committed) {
      tellProof(sentAt, true);
    } else if (isDeposed(reply)) {
      onFenceFailed();
    }
  }

  /**
   * Closes the session as soon as it can be proved ours, and makes sure that ZooKeeper has
   * forgotten it.
   */
  void close() {
    closing = true;
    if (state == State.CONNECTING) {
      context.connector().close(handle, () -> end(false));
    } else if (state == State.OPEN) {
      state = State.SUSPENDED;
      commit.hold();
      prove();
    }
  }

  private void closeHandle() {
    state = State.SUSPENDED;
    connected = false;
    suspendedTold = true;
    // Whether the closing got through, only the attempt to attach tells.
    context.connector().close(handle, this::attachUnlessEnded);
  }

  private void attachUnlessEnded() {
    if (state != State.ENDED) {
      attach();
    }
  }

  /**
   * Drops the handle for good; an empty session is closed, one that owns something is left alive.
   */
  void shutDown(Runnable closed) {
    boolean empty = state == State.OPEN && commit.ownsNothing();
    boolean unclaimed = state == State.CONNECTING || state == State.CLAIMING;
    boolean ended = state == State.ENDED;
    commit.end();
    state = State.ENDED;
    if (empty || unclaimed) {
      context
          .connector()
          .close(
              handle,
              () -> {
                claimName().ifPresent(claims::remove);
                closed.run();
              });
    } else {
      if (!ended) {
        context.connector().abandon(handle);
      }
      closed.run();
    }
  }

  @Override
  public void send(Transaction transaction) {
    multi(transaction.ops(), (reply, sentAt) -> onReply(transaction, reply, sentAt));
  }

  private void onReply(Transaction transaction, MultiReply reply, long sentAt) {
    boolean proof = commit.onReply(transaction, reply);
    if (proof && state != State.ENDED) {
      tellProof(sentAt, false);
    }
    prove();
  }

  private void multi(List<Op> ops, java.util.function.ObjLongConsumer<MultiReply> then) {
    long sentAt = System.nanoTime();
    handle.multi(
        ops,
        (rc, path, ctx, results) -> {
          MultiReply reply = MultiReply.of(rc, results, ops.size());
          context.thread().execute(() -> then.accept(reply, sentAt));
        },
        null);
  }

  @Override
  public Op fence() {
    return Fence.of(context.paths().claim(identity.orElseThrow().id()), EPOCH);
  }

  @Override
  public void onDoubt() {
    if (state == State.OPEN) {
      state = State.SUSPENDED;
      proveSoon();
    }
  }

  @Override
  public void onLayoutMissing() {
    layout.ensure();
  }
}
