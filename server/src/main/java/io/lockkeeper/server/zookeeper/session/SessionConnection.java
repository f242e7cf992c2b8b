package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.core.api.Promises;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.zookeeper.client.HandleListener;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.commit.GroupCommit;
import io.lockkeeper.server.zookeeper.commit.Transaction;
import java.util.Optional;
import org.apache.zookeeper.Op;

/**
 * One lock session: its handle, its claim, and the writes on it. Lives on the store's thread.
 *
 * <pre>
 *            claim is ours            barrier passed, stock taken, doubts resolved
 *  BEGINNING -------------> PROVING -----------------------------------------------> OPEN
 *                              ^                                                      |
 *       connected, none in     |          disconnected, doubt, expired                |
 *       flight                 +------------------- SUSPENDED <-----------------------+
 *
 *  any --(claim check fails: deposed; expiry confirmed by ZooKeeper; closed; dropped)--> ENDED
 * </pre>
 *
 * <p>When the client library gives a session up, that is no proof that it is gone: the session is
 * attached to again, and only ZooKeeper's own refusal ends it.
 *
 * <p>Closing a handle ends its session whoever owns it by now. So a session is closed only when the
 * claim was proved and the session then found to own nothing; otherwise the handle is dropped.
 */
public final class SessionConnection
    implements HandleListener,
        GroupCommit.Lane,
        SessionStart.StartListener,
        SessionProof.ProofListener {

  private static final long RETRY_MILLIS = 200;
  private static final long FAREWELL_MILLIS = 1_000;

  private enum ConnectionState {
    BEGINNING,
    PROVING,
    OPEN,
    SUSPENDED,
    ENDED
  }

  private final StoreContext context;
  private final SessionContext services;
  private final SessionEvents events;
  private final boolean adopted;
  private final GroupCommit commit;
  private final SessionAttachment attachment;
  private final SessionStart beginning;
  private ConnectionState state = ConnectionState.BEGINNING;
  private boolean closing;
  private boolean leaving;
  private boolean handingOver;
  private Optional<Promises> promises = Optional.empty();
  private Runnable whenEnded = () -> {};
  private Optional<SessionProof> proof = Optional.empty();

  /** Opens a session, or attaches to one that was another coordinator's. */
  SessionConnection(SessionKey key, SessionContext services, Optional<AdoptedClaim> adoptedClaim) {
    this.services = services;
    context = services.context();
    adopted = adoptedClaim.isPresent();
    events = new SessionEvents(key, context.events());
    commit = new GroupCommit(this, context);
    if (adoptedClaim.isPresent()) {
      attachment = new SessionAttachment(context, this, adoptedClaim.get());
      beginning =
          new AdoptedSession(key, context, attachment, commit, events, adoptedClaim.get(), this);
    } else {
      attachment = new SessionAttachment(context, this);
      beginning = new NewSession(services, attachment, events, this);
    }
  }

  public GroupCommit commit() {
    return commit;
  }

  boolean hasEnded() {
    return state == ConnectionState.ENDED;
  }

  /** Returns whether the coordinator has not been told of it yet. */
  boolean isBeginning() {
    return state != ConnectionState.ENDED && !events.hasOpened();
  }

  Optional<String> claimName() {
    return beginning.claim().map(Claim::name);
  }

  @Override
  public void onConnected() {
    if (!attachment.onConnected()) {
      return;
    }
    // Each connection negotiates anew, and a shorter timeout would make the bound a lie.
    boolean fits = attachment.fits(context.onUnusable());
    switch (state) {
      case BEGINNING -> beginning.onConnected(fits);
      case SUSPENDED -> prove();
      case PROVING, OPEN, ENDED -> {} // A proof under way goes on, or fails and starts again.
    }
  }

  @Override
  public void onClaimed() {
    if (state == ConnectionState.BEGINNING) {
      suspendAndProve();
    }
  }

  @Override
  public void onGone() {
    end(false);
  }

  private void suspendAndProve() {
    state = ConnectionState.SUSPENDED;
    commit.hold();
    prove();
  }

  /** Proves the session on a fresh connection, then resolves what is in doubt, then opens it. */
  private void prove() {
    if (state != ConnectionState.SUSPENDED
        || handingOver
        || !attachment.isConnected()
        || commit.inFlight() > 0) {
      return;
    }
    state = ConnectionState.PROVING;
    proof = Optional.of(new SessionProof(context, attachment, commit, beginning, this));
    proof.get().start(fence());
  }

  @Override
  public void onProved() {
    if (context.problems().isRefused()) {
      services.rootNodes().ensure();
    }
    if (closing) {
      proof.ifPresent(SessionProof::countOwned);
    } else {
      state = ConnectionState.OPEN;
      commit.open();
    }
  }

  @Override
  public void onUnproved() {
    state = ConnectionState.SUSPENDED;
    context.executor().after(RETRY_MILLIS, this::prove);
  }

  @Override
  public void onDisconnected() {
    attachment.onDisconnected();
    suspend();
  }

  private void suspend() {
    proof.ifPresent(SessionProof::cancel);
    if (state == ConnectionState.OPEN || state == ConnectionState.PROVING) {
      state = ConnectionState.SUSPENDED;
      commit.hold();
    }
    events.suspended();
  }

  @Override
  public void onExpired() {
    attachment.onDisconnected();
    suspend();
    switch (state) {
      case BEGINNING -> beginning.onExpired();
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

  @Override
  public void onAuthFailed() {
    switch (state) {
      case BEGINNING -> beginning.onAuthFailed();
      // The session is alive for all that is known, and ours.
      case PROVING, OPEN, SUSPENDED -> attachment.again();
      case ENDED -> {}
    }
  }

  private void end(boolean deposed) {
    if (state == ConnectionState.ENDED) {
      return;
    }
    state = ConnectionState.ENDED;
    proof.ifPresent(SessionProof::cancel);
    beginning.cancel();
    commit.end();
    if (!deposed) {
      claimName().ifPresent(services.left()::remove);
      beginning.claim().ifPresent(services.claims()::remove);
    }
    events.ended(deposed);
    whenEnded.run();
  }

  @Override
  public void onFenceFailed() {
    if (state != ConnectionState.ENDED) {
      context.stats().add(StoreStats.StoreCount.SESSIONS_DEPOSED, 1);
      // Closing would end the session under its new owner.
      attachment.abandon();
      end(true);
    }
  }

  /** Proves the session now; if that cannot be done, the next connection does it. */
  public void proveNow() {
    if (events.hasOpened() && (state == ConnectionState.OPEN || state == ConnectionState.PROVING)) {
      SessionProof.again(attachment, fence(), events, this);
    }
  }

  /**
   * Closes the session once it is proved ours and found to own nothing, and makes sure that
   * ZooKeeper has forgotten it. One that owns something is dropped.
   */
  public void close() {
    closing = true;
    if (state == ConnectionState.BEGINNING && beginning.isEmpty()) {
      beginning.cancel();
      attachment.close(() -> end(false));
    } else if (state == ConnectionState.OPEN) {
      suspendAndProve();
    }
  }

  @Override
  public void onCounted(boolean empty) {
    if (!empty) {
      // Of what we opened ourselves a creation may be ours yet: whoever adopts it finds that out.
      if (adopted) {
        claimName().ifPresent(claim -> services.left().add(claim, System.nanoTime()));
      }
      handOver();
      return;
    }
    state = ConnectionState.SUSPENDED;
    commit.hold();
    // Whether the closing got through, only the attempt to attach tells.
    attachment.close(
        () -> {
          if (state != ConnectionState.ENDED) {
            attachment.again();
          }
        });
  }

  /** Records what clients were promised when the session is handed over. */
  public void promises(Promises recorded) {
    promises = Optional.of(recorded);
  }

  /** Leaves the session to whoever adopts it, with the promises if there are some to record. */
  private void handOver() {
    Optional<Claim> claim = beginning.claim();
    if (promises.isPresent() && claim.isPresent() && attachment.isConnected() && !handingOver) {
      handingOver = true;
      proof.ifPresent(SessionProof::cancel);
      state = ConnectionState.SUSPENDED;
      commit.hold();
      ClaimFarewell.write(context, attachment.handle(), claim.get(), promises.get(), this::drop);
    } else if (!handingOver) {
      drop();
    }
  }

  /** Drops the handle; the session lives on. */
  private void drop() {
    if (state != ConnectionState.ENDED) {
      context.stats().add(StoreStats.StoreCount.SESSIONS_HANDED_OVER, 1);
      attachment.abandon();
      end(true);
    }
  }

  /**
   * Closes the session if it is found to be empty in a short time; otherwise leaves it to whoever
   * adopts it. Then runs {@code ended}, in a second at the latest, whatever ZooKeeper answers.
   */
  void leave(Runnable ended) {
    if (state == ConnectionState.ENDED) {
      ended.run();
      return;
    }
    Runnable before = whenEnded;
    whenEnded =
        () -> {
          before.run();
          ended.run();
        };
    if (leaving) {
      return;
    }
    leaving = true;
    context.executor().after(FAREWELL_MILLIS, this::drop);
    boolean untouched = state == ConnectionState.BEGINNING && beginning.isEmpty();
    if (untouched || (events.hasOpened() && commit.ownsNothing())) {
      close();
    } else {
      handOver();
    }
  }

  /** Leaves, and tells the coordinator nothing of it. */
  void shutDown(Runnable ended) {
    events.silence();
    leave(ended);
  }

  @Override
  public void send(Transaction transaction) {
    attachment.send(transaction.ops(), (reply, sentAt) -> onReply(transaction, reply, sentAt));
  }

  private void onReply(Transaction transaction, MultiReply reply, long sentAt) {
    if (commit.onReply(transaction, reply)) {
      events.proved(sentAt, attachment, false);
    }
    prove();
  }

  @Override
  public Op fence() {
    return beginning.claim().orElseThrow().fence(context.paths());
  }

  @Override
  public void onDoubt() {
    if (state == ConnectionState.OPEN) {
      onUnproved();
    }
  }

  @Override
  public void onLayoutMissing() {
    services.rootNodes().ensure();
  }
}
