package io.lockkeeper.client;

/** The client's lease ended while a request waited under it: its place is gone. Ask again. */
public final class LeaseLostException extends LockkeeperException {

  private static final long serialVersionUID = 1L;
  private final LossReason reason;

  /** Makes the failure of a lease that was lost, and says why. */
  public LeaseLostException(String lock, LossReason reason) {
    super(
        "the lease ended ("
            + reason
            + ") while waiting for lock \""
            + lock
            + "\", and the place in the queue with it: ask again, the client opens a new lease");
    this.reason = reason;
  }

  /** Returns why the lease ended. */
  public LossReason reason() {
    return reason;
  }
}
