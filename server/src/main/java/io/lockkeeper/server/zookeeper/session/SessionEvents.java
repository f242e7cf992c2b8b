package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.core.api.SessionEvent.SessionAdopted;
import io.lockkeeper.server.core.api.SessionEvent.SessionEnded;
import io.lockkeeper.server.core.api.SessionEvent.SessionOpened;
import io.lockkeeper.server.core.api.SessionEvent.SessionProved;
import io.lockkeeper.server.core.api.SessionEvent.SessionSuspended;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.SessionKey;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the coordinator how one lock session is, each thing once and proofs not too often. */
final class SessionEvents {

  private static final Logger LOG = LoggerFactory.getLogger(SessionEvents.class);

  // A proof this much older than it could be costs a holder as much of its validity, which is
  // nothing.
  private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final SessionKey key;
  private final Consumer<StoreEvent> events;
  private boolean opened;
  private boolean suspended;
  private boolean ended;
  private long lastProofNanos;

  SessionEvents(SessionKey key, Consumer<StoreEvent> events) {
    this.key = key;
    this.events = events;
  }

  /**
   * A quorum write that was sent then has succeeded. The first one after a lost connection is
   * always told.
   */
  void proved(long sentAtNanos, SessionAttachment attachment, boolean always) {
    if (ended) {
      return;
    }
    if (!opened) {
      opened = true;
      lastProofNanos = sentAtNanos;
      long timeoutNanos = TimeUnit.MILLISECONDS.toNanos(attachment.timeoutMillis());
      events.accept(
          new SessionOpened(key, timeoutNanos, sentAtNanos, attachment.attachedAtNanos()));
    } else if (always || suspended || sentAtNanos - lastProofNanos >= INTERVAL_NANOS) {
      suspended = false;
      lastProofNanos = sentAtNanos;
      events.accept(new SessionProved(key, sentAtNanos, attachment.attachedAtNanos()));
    }
  }

  /** The session was another coordinator's, and is ours now. */
  void adopted(SessionAdopted adoption) {
    if (!ended && !opened) {
      opened = true;
      lastProofNanos = adoption.provenAtNanos();
      LOG.atInfo()
          .addKeyValue("session", key)
          .addKeyValue("leases", adoption.leases().size())
          .addKeyValue("entries", adoption.entries().size())
          .addKeyValue("certain", adoption.certain())
          .log("lock session adopted");
      events.accept(adoption);
    }
  }

  /** Returns whether the session has been told to be open, or adopted. */
  boolean hasOpened() {
    return opened;
  }

  /** Tells nothing from now on. */
  void silence() {
    ended = true;
  }

  /** The connection is lost. */
  void suspended() {
    if (opened && !ended && !suspended) {
      suspended = true;
      events.accept(new SessionSuspended(key));
    }
  }

  /** The session is over for us. */
  void ended(boolean deposed) {
    if (!ended) {
      ended = true;
      LOG.atInfo()
          .addKeyValue("session", key)
          .addKeyValue("deposed", deposed)
          .log("lock session ended");
      events.accept(new SessionEnded(key, deposed));
    }
  }
}
