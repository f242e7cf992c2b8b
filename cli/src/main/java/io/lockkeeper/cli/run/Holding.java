package io.lockkeeper.cli.run;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.ReleaseRequest;
import java.time.Duration;

/** What is done while locks are held. All but {@link #whileHeld} may be called by any thread. */
interface Holding {

  /** Returns the exit code when it is over; the locks are released then. */
  int whileHeld(LockHandle handle);

  /**
   * The locks are given back; not called if they were lost.
   *
   * @param confirmed whether a server has said so
   */
  void onReleased(LockHandle handle, boolean confirmed);

  /** A signal has come, before the locks were held or while they are. */
  void onSignal(String name);

  /** Somebody asks for the locks. */
  void onReleaseRequested(ReleaseRequest request);

  /** The servers have lost contact with ZooKeeper, or have it again. */
  void onContact(boolean withZooKeeper, Duration validFor);

  /**
   * The locks will be lost after {@code remaining}.
   *
   * @param byMaxHold whatever the servers say; else unless they can be renewed before
   */
  void onAboutToExpire(Duration remaining, boolean byMaxHold);
}
