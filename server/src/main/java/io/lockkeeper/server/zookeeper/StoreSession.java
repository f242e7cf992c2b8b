package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.SessionKey;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.Op;

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

  private static final long RETRY_MILLIS = 200;

  private enum State {
    CONNECTING,
    CLAIMING,
    PROVING,
    OPEN,
    SUSPENDED,
    ENDED
  }

  private final StoreContext context;
  private final Layout layout;
  private final ClaimRemoval claims;
  private final SessionVoice voice;
  private final GroupCommit commit;
  private final Attachment attachment;
  private final ClaimWriting claim;
  private State state = State.CONNECTING;
  private boolean closing;
  private long proofs;

  StoreSession(SessionKey key, StoreContext context, Layout layout, ClaimRemoval claims) {
    this.context = context;
    this.layout = layout;
    this.claims = claims;
    voice = new SessionVoice(key, context.events());
    commit = new GroupCommit(this, context);
    attachment = new Attachment(context, this);
    claim = new ClaimWriting(context, layout, attachment, this::suspendAndProve);
  }

  GroupCommit commit() {
    return commit;
  }

  boolean hasEnded() {
    return state == State.ENDED;
  }

  Optional<String> claimName() {
    return claim.name();
  }

  @Override
  public void onConnected() {
    attachment.onConnected();
    // Each connection negotiates anew, and a shorter timeout would make the bound a lie.
    boolean fits = attachment.fits(context.onUnusable());
    switch (state) {
      case CONNECTING -> claim(fits);
      case CLAIMING -> claim.start();
      case SUSPENDED -> prove();
      // The proof under way goes on, or fails and starts again.
      case PROVING, OPEN, ENDED -> {}
    }
  }

  private void claim(boolean fits) {
    if (!fits) {
      attachment.close(() -> end(false));
      return;
    }
    attachment.identify();
    state = State.CLAIMING;
    claim.start();
  }

  private void suspendAndProve() {
    state = State.SUSPENDED;
    commit.hold();
    prove();
  }

  /** Proves the session on a fresh connection, then resolves what is in doubt, then opens it. */
  private void prove() {
    if (state != State.SUSPENDED || !attachment.isConnected() || commit.inFlight() > 0) {
      return;
    }
    state = State.PROVING;
    long proof = ++proofs;
    attachment.send(List.of(fence()), (reply, sentAt) -> onProof(proof, reply, sentAt));
  }

  private void onProof(long proof, MultiReply reply, long sentAt) {
    if (proof != proofs || state != State.PROVING) {
      return;
    }
    if (Fence.isBroken(reply)) {
      onFenceFailed();
    } else if (!(reply instanceof MultiReply.Committed)) {
      suspendAgain(proof);
    } else {
      voice.proved(sentAt, attachment.grantedMillis(), true);
      new DoubtResolution(
              attachment.handle(),
              context,
              commit,
              () -> resolved(proof),
              () -> suspendAgain(proof))
          .start();
    }
  }

  private void resolved(long proof) {
    if (proof != proofs || state != State.PROVING) {
      return;
    }
    if (closing) {
      closeForGood();
    } else {
      state = State.OPEN;
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

  @Override
  public void onDisconnected() {
    attachment.onDisconnected();
    suspend();
  }

  private void suspend() {
    if (state == State.OPEN || state == State.PROVING) {
      state = State.SUSPENDED;
      commit.hold();
    }
    voice.suspended();
  }

  @Override
  public void onExpired() {
    attachment.onDisconnected();
    suspend();
    switch (state) {
      case CONNECTING, CLAIMING -> {
        // Nothing was on it yet: a fresh session will do.
        claim.cancel();
        claimName().ifPresent(claims::remove);
        state = State.CONNECTING;
        attachment.startOver();
      }
      case PROVING, OPEN, SUSPENDED -> {
        if (attachment.isExpiryConfirmed()) {
          end(false);
        } else {
          attachment.again();
        }
      }
      case ENDED -> {}
    }
  }

  private void end(boolean deposed) {
    if (state == State.ENDED) {
      return;
    }
    state = State.ENDED;
    claim.cancel();
    commit.end();
    if (!deposed) {
      claimName().ifPresent(claims::remove);
    }
    voice.ended(deposed);
  }

  @Override
  public void onFenceFailed() {
    if (state != State.ENDED) {
      // Closing would end the session under its new owner.
      attachment.abandon();
      end(true);
    }
  }

  /** Proves the session now; if that cannot be done, the next connection does it. */
  void proveNow() {
    if (state == State.OPEN || state == State.PROVING) {
      attachment.send(List.of(fence()), this::onExtraProof);
    }
  }

  private void onExtraProof(MultiReply reply, long sentAt) {
    if (reply instanceof MultiReply.Committed) {
      voice.proved(sentAt, attachment.grantedMillis(), true);
    } else if (Fence.isBroken(reply)) {
      onFenceFailed();
    }
  }

  /** Closes the session once it is proved ours, and makes sure that ZooKeeper has forgotten it. */
  void close() {
    closing = true;
    if (state == State.CONNECTING) {
      attachment.close(() -> end(false));
    } else if (state == State.OPEN) {
      suspendAndProve();
    }
  }

  private void closeForGood() {
    state = State.SUSPENDED;
    commit.hold();
    // Whether the closing got through, only the attempt to attach tells.
    attachment.close(
        () -> {
          if (state != State.ENDED) {
            attachment.again();
          }
        });
  }

  /** Drops the handle; an empty session is closed, one that owns something is left alive. */
  void shutDown(Runnable closed) {
    boolean unclaimed = state == State.CONNECTING || state == State.CLAIMING;
    boolean empty = unclaimed || (state == State.OPEN && commit.ownsNothing());
    if (state != State.ENDED && !empty) {
      attachment.abandon();
    }
    state = State.ENDED;
    claim.cancel();
    commit.end();
    if (empty) {
      attachment.close(
          () -> {
            claimName().ifPresent(claims::remove);
            closed.run();
          });
    } else {
      closed.run();
    }
  }

  @Override
  public void send(Transaction transaction) {
    attachment.send(transaction.ops(), (reply, sentAt) -> onReply(transaction, reply, sentAt));
  }

  private void onReply(Transaction transaction, MultiReply reply, long sentAt) {
    if (commit.onReply(transaction, reply)) {
      voice.proved(sentAt, attachment.grantedMillis(), false);
    }
    prove();
  }

  @Override
  public Op fence() {
    return claim.fence();
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
