package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.SessionEvent.SessionAdopted;
import io.lockkeeper.server.core.SessionKey;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lock session that was another coordinator's: its claim is ours already, and stock is taken of
 * what it owns before anything is written on it.
 */
final class Succession implements Beginning {

  private static final Logger LOG = LoggerFactory.getLogger(Succession.class);

  private final SessionKey key;
  private final StoreContext context;
  private final Attachment attachment;
  private final GroupCommit commit;
  private final SessionVoice voice;
  private final Taken taken;
  private final Listener listener;
  private boolean told;

  Succession(
      SessionKey key,
      StoreContext context,
      Attachment attachment,
      GroupCommit commit,
      SessionVoice voice,
      Taken taken,
      Listener listener) {
    this.key = key;
    this.context = context;
    this.attachment = attachment;
    this.commit = commit;
    this.voice = voice;
    this.taken = taken;
    this.listener = listener;
  }

  @Override
  public Optional<Claim> claim() {
    return Optional.of(taken.claim());
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
      context.stats().add(StoreStats.Count.ADOPTIONS_TOO_LATE, 1);
      LOG.atWarn()
          .addKeyValue("session", key)
          .addKeyValue("claim", taken.claim().name())
          .log(
              "a session was gone before it could be adopted, and what was held on it, if anything");
      listener.onGone();
    } else {
      attachment.again();
    }
  }

  @Override
  public void tellProved(long sentAtNanos, Runnable done, Runnable failed) {
    if (told) {
      voice.proved(sentAtNanos, attachment, true);
      done.run();
      return;
    }
    new Inventory(
            attachment.handle(),
            context,
            found -> {
              tell(sentAtNanos, found);
              done.run();
            },
            failed)
        .start();
  }

  private void tell(long sentAtNanos, Inventory.Found found) {
    if (told) {
      return;
    }
    told = true;
    commit.inherit(found.nodes());
    context.stats().add(StoreStats.Count.SESSIONS_ADOPTED, 1);
    context.stats().add(StoreStats.Count.NODES_ADOPTED, found.nodes());
    voice.adopted(
        new SessionAdopted(
            key,
            TimeUnit.MILLISECONDS.toNanos(attachment.timeoutMillis()),
            sentAtNanos,
            attachment.attachedAtNanos(),
            taken.atNanos(),
            taken.certain(),
            found.leases(),
            found.entries()));
  }

  @Override
  public void cancel() {
    told = true;
  }
}
