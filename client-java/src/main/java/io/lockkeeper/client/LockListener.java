package io.lockkeeper.client;

import java.time.Duration;
import java.util.List;

/**
 * Is told what happens to one request. Every method has an empty default.
 *
 * <p>Called on the client's callback executor, one call at a time and in order. What a method
 * throws is logged and does no harm. A slow one delays the others, also {@link #onLost}; only
 * {@link LockHandle#isValid} is never late.
 */
public interface LockListener {

  /** A listener that does nothing. */
  LockListener NONE = new LockListener() {};

  /**
   * The request has joined the queue, or its place has changed, or a holder has changed what it
   * says about itself. Of several locks: the first one that it still waits for.
   *
   * @param ahead how many entries are ahead, holders included
   * @param holders who holds the lock, at most 16
   */
  default void onQueued(int ahead, List<Contender> holders) {}

  /**
   * Like {@link #onQueued}, for requests that name several locks. By default it calls that with the
   * first place.
   *
   * @param places one for each lock that the request still waits for; one at least
   */
  default void onPlaces(List<QueuePlace> places) {
    onQueued(places.get(0).ahead(), places.get(0).holders());
  }

  /**
   * The lock is held. Called before the request's future completes, and not at all if that was
   * cancelled or completed before by others: the grant is released then.
   */
  default void onGranted(LockHandle handle) {}

  /**
   * Another client asks the holder to release the lock: finish and release as soon as possible, and
   * say with {@link LockHandle#answerRelease} how long that will take.
   *
   * @param request who asks, why, and by when the lock may be taken away
   */
  default void onReleaseRequested(LockHandle handle, ReleaseRequest request) {}

  /**
   * Somebody waits for a lock that is held, in whatever client, also one of Curator's. Only if the
   * request asked for it ({@link LockRequest#notifyContention}), or may be kept ({@link
   * LockRequest#keepUnused}), and once for a hold: who can make way does, and who cannot need not.
   *
   * @param waiters how many waited when the server said so; zero: nobody does, but operators have
   *     frozen the lock, for it to become free
   */
  default void onContended(LockHandle handle, int waiters) {}

  /**
   * The server has lost contact with ZooKeeper. The lock is still held. Called once until it is
   * over: with {@link #onSafe}, or with {@link #onLost} when the time has passed. The time may
   * change meanwhile: {@link LockHandle#remaining} knows.
   *
   * @param validFor how long it may still be used
   */
  default void onJeopardy(LockHandle handle, Duration validFor) {}

  /**
   * After {@link #onJeopardy}, and only then: the contact is back, or another server vouches for
   * the lock, and it is still held.
   *
   * @param validFor how long it may be used without another answer of a server
   */
  default void onSafe(LockHandle handle, Duration validFor) {}

  /**
   * The connection was broken, and a server has confirmed that the lock is still held, with the
   * same token: perhaps another server, which has taken the lease over. Nothing needs to be done: a
   * lock is valid also without a connection, until its deadline. For statistics.
   *
   * @param away how long the client was without a server
   */
  default void onResumed(LockHandle handle, Duration away) {}

  /**
   * The client's own deadline is near and no server has answered, or the end of {@link
   * LockRequest#maxHold} is near: bring the work to a safe point. Comes {@link
   * LockkeeperClientBuilder#expiryWarning} before the deadline, once until a keep-alive is
   * acknowledged again, and once for the end of {@code maxHold}.
   *
   * @param remaining how long the lock may still be used
   */
  default void onAboutToExpire(LockHandle handle, Duration remaining) {}

  /**
   * The lock is not held any more, without having been released. Called once, and last. In a
   * partition it is called at the client's own deadline, before a server grants the lock to another
   * holder.
   */
  default void onLost(LockHandle handle, LossReason reason) {}
}
