package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LeaseView;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.Freeze;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LeaseName;
import io.lockkeeper.server.core.lock.LockName;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * What the coordinator does for those who carry requests to it. All methods may be called from any
 * thread and return at once. Futures complete, and listeners are called, on the coordinator's one
 * event loop: whoever is called there must not block and must not throw.
 *
 * <p>A future fails with a {@link RefusedException} that says why. Every future completes: where
 * the answer depends on ZooKeeper, after {@value #ANSWER_SECONDS} seconds at the latest, then with
 * {@code UNAVAILABLE}; the request may still take effect, and may be sent again. A listener that
 * throws all the same loses its stream, and nobody else anything.
 */
public interface Coordinator {

  /** How long an answer may take at most, in seconds. */
  int ANSWER_SECONDS = 10;

  /**
   * Returns the same coordinator for the requests of a caller: he may use his own leases and those
   * that belong to nobody, and what he opens and acquires is his. Without this, requests are {@link
   * Caller#ANYBODY}'s.
   */
  Coordinator by(Caller caller);

  /**
   * Opens a lease. With a secret of the client's choice, the same request again finds the same
   * lease.
   */
  CompletableFuture<OpenedLease> openLease(Duration ttl, String holder, Optional<String> secret);

  /**
   * A new lease.
   *
   * @param lease its id, time to live and validity
   * @param secret what attaching to it needs
   */
  record OpenedLease(Answer.LeaseOpened lease, String secret) {}

  /**
   * Makes a listener the target of all notices of a lease, and renews the lease. A listener that
   * was it before is told {@link SessionListener#onSuperseded}. After the future has completed, the
   * last notice of each acquisition comes again.
   *
   * @return the answer, and how to take the listener off again
   */
  Attachment attach(LeaseId lease, String secret, SessionListener listener);

  /** A listener that stays attached to a lease until closed. */
  interface Attachment {
    /** Completes when attached. */
    CompletableFuture<Answer.LeaseAttached> attached();

    /**
     * Asks for locks under the lease; notices and failures go to the listener. The command's lease
     * is not looked at.
     */
    void acquire(AcquireCommand command);

    /** Takes the listener off. The lease lives on. Idempotent. */
    void detach();
  }

  /** Hears what happens to a lease. */
  interface SessionListener {
    /**
     * Something happened to an acquisition. Numbered from 1 within the acquisition and the epoch of
     * its lease; a repeat keeps its number unless others followed it.
     */
    void onNotice(String requestId, long epoch, long sequence, Notice notice);

    /** A request for locks could not be taken. */
    void onRefused(String requestId, RefusedException why);

    /**
     * The lease has ended; nothing follows.
     *
     * @param message why, human-readable, may be empty
     */
    void onLeaseEnded(io.lockkeeper.server.core.api.LeaseEnd end, String message);

    /**
     * The lease lives on, and the client shall resume it: at another coordinator, or here. Nothing
     * follows.
     *
     * @param why MOVED, LEAVING or UNAVAILABLE
     */
    void onSentAway(Failure why);

    /** Another stream has taken over; nothing follows. */
    void onSuperseded();
  }

  /** Renews a lease: how it stands afterwards, renewed or gone. Fails with UNKNOWN_LEASE. */
  CompletableFuture<Answer> keepAlive(LeaseId lease);

  /** Closes a lease with all that it holds. Completes when all of it is gone for good. */
  CompletableFuture<Answer.LeaseClosed> closeLease(LeaseId lease);

  /**
   * Asks for locks. Without a lease in the command, the subscription is the lease.
   *
   * @return how to take the listener off again
   */
  Subscription acquire(AcquireCommand command, AcquisitionListener listener);

  /** An acquisition's listener until closed. */
  interface Subscription {
    /**
     * Says that the client has hung up. Without a lease, the acquisition ends. With one, a waiting
     * acquisition leaves the queue unless the same request comes again soon. Idempotent.
     *
     * @param cancelled whether by cancelling the call: without a lease, that gives the locks up,
     *     and is no crash
     */
    void close(boolean cancelled);
  }

  /** Hears what happens to one acquisition. */
  interface AcquisitionListener {
    /** Something happened. Nothing follows a final notice. */
    void onNotice(String requestId, long epoch, long sequence, Notice notice);

    /** The request could not be taken; nothing follows. */
    void onRefused(RefusedException why);

    /**
     * The same request came again on another stream, which hears from now on; nothing follows here.
     */
    void onSuperseded();
  }

  /** Releases or withdraws an acquisition. Completes when its entries are gone for good. */
  CompletableFuture<Answer.ReleaseDone> release(LeaseId lease, String requestId, long token);

  /** Asks the holders of a lock to give way; returns who was asked, at most 16. */
  CompletableFuture<Answer.ReleaseAsked> requestRelease(
      LockName lock, String requester, String reason, Optional<Duration> deadline);

  /**
   * Takes a lock away from its holders, or from the one with {@code token} if it is not zero.
   * Without a token, also ends the lock delays that keep it closed. Completes when they have lost
   * it; with a grace, at once, when they have been asked to give way.
   */
  CompletableFuture<Answer.Forced> forceRelease(
      LockName lock, long token, String requester, String reason, Optional<Duration> grace);

  /** Answers a wish to give way: the holder needs its locks for this much longer. */
  CompletableFuture<Answer.Described> answerRelease(
      LeaseId lease, String requestId, Duration needs);

  /** Replaces the metadata of an acquisition that waits or holds. */
  CompletableFuture<Answer.Described> updateMetadata(
      LeaseId lease, String requestId, Map<String, String> metadata);

  /** Sets the limit of a lock of permits; empty takes the setting back. */
  CompletableFuture<Answer.LimitSet> configureLock(LockName lock, OptionalInt limit);

  /**
   * Freezes a prefix: nobody new is granted a lock under it, at any coordinator. Completes when
   * this one, too, decides by it.
   */
  CompletableFuture<Answer.FreezeChanged> freeze(Freeze freeze);

  /** Thaws a prefix that was frozen. Fails with NOT_FROZEN. */
  CompletableFuture<Answer.FreezeChanged> unfreeze(String prefix);

  /**
   * Closes somebody's lease with all that it holds. Completes when all of it is gone for good.
   * Fails with UNKNOWN_LEASE.
   */
  CompletableFuture<Answer.LeaseClosed> forceCloseLease(LeaseName lease, String reason);

  /**
   * Leaves while the process stays: takes no new leases, lets deletions settle, and gives all
   * leases to whichever peers adopt them. For good; idempotent. Completes with the number of leases
   * that are left after {@code grace}, or about a second if that is longer.
   */
  CompletableFuture<Integer> drain(Duration grace);

  /** Returns the cluster as this coordinator sees it. */
  CompletableFuture<ClusterView> cluster();

  /** Returns where a waiting acquisition stands. */
  CompletableFuture<Notice.Position> position(LeaseId lease, String requestId);

  /** Returns one lock, with up to {@code queueLimit} waiters. */
  CompletableFuture<LockView> getLock(LockName lock, int queueLimit);

  /** Returns the newest {@code limit} holds of a lock that have ended. */
  CompletableFuture<LockHistory> history(LockName lock, int limit);

  /**
   * Returns up to {@code limit} locks in use whose names begin with {@code prefix} and come after
   * {@code after}, in the order of their names.
   *
   * @param visible which of them may be shown
   */
  CompletableFuture<LockPage> listLocks(
      String prefix, Optional<LockName> after, int limit, VisibleLocks visible);

  /**
   * Some of the locks in use.
   *
   * @param locks the locks
   * @param last the name after which the next page starts, if more visible locks can follow
   */
  record LockPage(List<LockView> locks, Optional<LockName> last) {}

  /** Says whether a token is current, after a write through the quorum. */
  CompletableFuture<TokenCheck> checkToken(LockName lock, long token);

  /**
   * What is known of a token.
   *
   * @param current whether it is that of a current holder
   * @param currentTokens the tokens of the current holders, at most 16
   */
  record TokenCheck(boolean current, List<Long> currentTokens) {}

  /** Returns one lease, with up to {@code limit} acquisitions. */
  CompletableFuture<LeaseView> getLease(LeaseId lease, int limit);

  /** Returns up to {@code limit} leases whose tags come after {@code afterTag}, ordered by tag. */
  CompletableFuture<List<LeaseView>> listLeases(String afterTag, int limit);

  /**
   * Watches locks.
   *
   * @param filter which ones
   * @param startRevision the last revision that the watcher has seen, zero for a snapshot
   */
  WatchHandle watch(WatchFilter filter, long startRevision, WatchListener listener);

  /**
   * Finds out who serves a lease that is not served here. Fails with UNAVAILABLE if ZooKeeper does
   * not answer.
   */
  CompletableFuture<LeaseLocation> locate(LeaseId lease);

  /**
   * Says that a peer does not answer, or can renew no lease. Its lock sessions may be adopted, by
   * whoever is first; if it lives, it loses no lock by that, it only serves them no longer.
   *
   * @param id the peer's id
   */
  void suspect(String id);

  /** Says how many other coordinators are known to be in contact with ZooKeeper and to serve. */
  void peersServing(int others);

  /** Says who hears of the other coordinators: at once and at every change. Called once at most. */
  void watchPeers(Consumer<List<Peer>> listener);

  /**
   * Runs {@code requests}, which makes several requests that came at once: what they cost together
   * is less if the coordinator takes them together.
   */
  void together(Runnable requests);

  /** Returns how the coordinator is, as of now. */
  CoordinatorStatus status();
}
