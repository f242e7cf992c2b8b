package io.lockkeeper.client;

/** A lock that was held is not held any more: stop, and do not finish what it protected. */
public final class LockLostException extends LockkeeperException {

  private static final long serialVersionUID = 1L;
  private final LossReason reason;

  /** Makes the failure of a lock that was lost, and says why. */
  public LockLostException(String lock, LossReason reason) {
    super(
        "lock \""
            + lock
            + "\" is lost ("
            + reason
            + "): stop what it protected, somebody else may hold it now; acquire it again to go on");
    this.reason = reason;
  }

  /** Returns why. */
  public LossReason reason() {
    return reason;
  }
}
