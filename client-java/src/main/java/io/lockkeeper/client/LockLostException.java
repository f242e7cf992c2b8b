package io.lockkeeper.client;

/** A lock that was held is not held any more: stop, and do not finish what it protected. */
public final class LockLostException extends LockkeeperException {

  private static final long serialVersionUID = 1L;
  private final String lock;
  private final LossReason reason;

  /** Makes the failure of a lock that was lost, and says why. */
  public LockLostException(String lock, LossReason reason) {
    super(
        "lock \""
            + lock
            + "\" is lost ("
            + reason
            + "): stop what it protected, somebody else may hold it now; acquire it again to go on");
    this.lock = lock;
    this.reason = reason;
  }

  /** Returns the name of the lock; of several, all names. */
  public String lock() {
    return lock;
  }

  /** Returns why. */
  public LossReason reason() {
    return reason;
  }
}
