package io.lockkeeper.client;

import java.util.List;
import java.util.stream.Collectors;

/** A lock was not granted, for a reason that a caller must expect. */
public final class NotAcquiredException extends LockkeeperException {

  private static final long serialVersionUID = 1L;
  private final NotAcquiredReason reason;
  private final transient List<Contender> holders;

  /** Makes the failure of a request that got no lock, with who holds it and who waits. */
  public NotAcquiredException(
      String lock, NotAcquiredReason reason, String detail, List<Contender> holders) {
    super(
        "lock \""
            + lock
            + "\" was not acquired: "
            + reason
            + (detail.isEmpty() ? "" : ": " + detail)
            + heldBy(holders));
    this.reason = reason;
    this.holders = List.copyOf(holders);
  }

  private static String heldBy(List<Contender> holders) {
    return holders.isEmpty()
        ? ""
        : holders.stream()
            .map(Contender::holder)
            .collect(Collectors.joining(", ", "; held by ", ""));
  }

  /** Returns why. */
  public NotAcquiredReason reason() {
    return reason;
  }

  /** Returns who held the lock when the request ended, as far as known; at most 16. */
  public List<Contender> holders() {
    return holders;
  }
}
