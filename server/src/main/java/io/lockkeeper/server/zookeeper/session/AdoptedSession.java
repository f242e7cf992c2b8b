package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.core.api.SessionEvent.SessionAdopted;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.commit.GroupCommit;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lock session that was another coordinator's: its claim is ours already, and stock is taken of
 * what it owns before anything is written on it.
 */
final class AdoptedSession implements SessionStart {

  private static final Logger LOG = LoggerFactory.getLogger(AdoptedSession.class);

  private final SessionKey key;
  private final StoreContext context;
  private final SessionAttachment attachment;
  private final GroupCommit commit;
  private final SessionEvents events;
  private final AdoptedClaim adoptedClaim;
  private final StartListener listener;
  private boolean told;

  AdoptedSession(
      SessionKey key,
      StoreContext context,
      SessionAttachment attachment,
      GroupCommit commit,
      SessionEvents events,
      AdoptedClaim adoptedClaim,
      StartListener listener) {
    this.key = key;
    this.context = context;
    this.attachment = attachment;
    this.commit = commit;
    this.events = events;
    this.adoptedClaim = adoptedClaim;
    this.listener = listener;
  }

  @Override
  public Optional<Claim> claim() {
    return Optional.of(adoptedClaim.claim());
  }

  @Override
  public boolean isEmpty() {
    return false;
  }

  @Override
  public void onConnected(boolean fits) {
    listener.onClaimed();
  }

  @Override
  public void onExpired() {
    if (attachment.isExpiryConfirmed()) {
      context.stats().add(StoreStats.StoreCount.ADOPTIONS_TOO_LATE, 1);
      LOG.atWarn()
          .addKeyValue("session", key)
          .addKeyValue("claim", adoptedClaim.claim().name())
          .log(
              "a session was gone before it could be adopted, and what was held on it, if anything");
      listener.onGone();
    } else {
      attachment.again();
    }
  }

  @Override
  public void onAuthFailed() {
    attachment.again();
  }

  @Override
  public void tellProved(long sentAtNanos, Runnable done, Runnable failed) {
    if (told) {
      events.proved(sentAtNanos, attachment, true);
      done.run();
      return;
    }
    new SessionInventory(
            attachment.handle(),
            context,
            found -> {
              tell(sentAtNanos, found);
              done.run();
            },
            failed)
        .start();
  }

  private void tell(long sentAtNanos, SessionInventory.Found found) {
    if (told) {
      return;
    }
    told = true;
    commit.inherit(found.nodes());
    context.stats().add(StoreStats.StoreCount.SESSIONS_ADOPTED, 1);
    context.stats().add(StoreStats.StoreCount.NODES_ADOPTED, found.nodes());
    events.adopted(
        new SessionAdopted(
            key,
            adoptedClaim.claim().leaseEpoch(),
            TimeUnit.MILLISECONDS.toNanos(attachment.timeoutMillis()),
            sentAtNanos,
            attachment.attachedAtNanos(),
            adoptedClaim.atNanos(),
            adoptedClaim.certain(),
            adoptedClaim.promises(),
            found.leases(),
            found.entries()));
  }

  @Override
  public void cancel() {
    told = true;
  }
}
