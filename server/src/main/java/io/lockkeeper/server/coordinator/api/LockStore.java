package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The queues in ZooKeeper, as the coordinator uses them: does what the core's {@link StoreEffect}s
 * say, and what the coordinator itself asks. Every method returns at once and never throws; what
 * came of it arrives as a {@link StoreEvent}, on any thread. All calls come from one thread.
 */
public interface LockStore extends StoreEffect.Store {

  /**
   * Connects, and keeps trying for ever. Called once, first.
   *
   * @param events where events go
   * @param onFailure told once, on any thread, what was thrown inside the store: its state is in
   *     doubt, so that it does nothing any more, answers nothing, and leaves its sessions as they
   *     are
   */
  void start(Consumer<StoreEvent> events, Consumer<Throwable> onFailure);

  /**
   * Returns the bytes that the entry's path will take in ZooKeeper, for the cap on what one session
   * may own. Pure.
   */
  int pathBytes(LockName lock, Mode mode);

  /** Returns the bytes that a lease record's path takes in ZooKeeper. Pure. */
  int leasePathBytes();

  /** Returns what is wrong with what the store works on. May be called on any thread. */
  default StoreHealth health() {
    return StoreHealth.WELL;
  }

  /**
   * Ends all handles and threads. Lock sessions that still own entries are abandoned without being
   * closed, so that their entries live until the session timeout or until somebody adopts them.
   */
  void stop();

  /**
   * Finds out who serves a lease, from its record.
   *
   * @param answer gets the answer, on any thread; empty if ZooKeeper does not answer in some
   *     seconds
   */
  void locate(LeaseId lease, Consumer<Optional<LeaseLocation>> answer);

  /**
   * Takes note that a peer does not answer, or can renew no lease: from now on its lock sessions
   * are orphans, until it has been seen to come back.
   */
  void suspect(String id);

  /**
   * Describes the other coordinators and the lock sessions, as they were seen last.
   *
   * @param answer gets that, on any thread; empty if nothing has been seen yet
   */
  void describe(Consumer<Optional<StoreView>> answer);

  /** Says who hears of the other coordinators, on any thread. Called once at most. */
  void watchPeers(Consumer<List<Peer>> listener);

  /**
   * Leaves: every lock session that owns something is dropped without being closed, so that peers
   * can adopt it, and answered by {@link SessionEvent.SessionEnded} as deposed. The promises that
   * were given for it are written into its claim before. Then the member node goes, which tells the
   * peers.
   */
  void leave();
}
