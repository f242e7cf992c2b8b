package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.LockName;

/**
 * A request that could not be taken. Nothing was changed by it.
 *
 * @param reason what is wrong
 * @param message human-readable: names the limit or the thing
 */
public record Failure(Reason reason, String message) {

  /** Returns what to say where a lock is in use as another kind. */
  public static Failure wrongKind(LockName lock, String kind) {
    return new Failure(Reason.WRONG_KIND, "lock '" + lock + "' is in use as another kind: " + kind);
  }

  /** Returns what to say of a lease that no coordinator serves, as far as the caller may know. */
  public static String nobodyServes(String tag) {
    return "no coordinator serves a lease " + tag + "…";
  }

  /** What can be wrong. */
  public enum Reason {
    /** The lease is not known here. */
    UNKNOWN_LEASE,
    /** The lease belongs to somebody else; who asks is told the same as if there were none. */
    FOREIGN_LEASE,
    /**
     * Another coordinator serves the lease from now on; the request may not have been carried out.
     */
    MOVED,
    /** No acquisition of that request id was ever seen under the lease. */
    UNKNOWN_ACQUISITION,
    /** The lease that was opened with the secret that the client has chosen has ended. */
    SECRET_USED,
    /** The secret is not the lease's. */
    WRONG_SECRET,
    /** The request id names another request. */
    REQUEST_ID_IN_USE,
    /** The token is not the acquisition's. */
    WRONG_TOKEN,
    /** The lock's queue holds entries of another kind. */
    WRONG_KIND,
    /** The lock has another limit, or none that is known. */
    WRONG_LIMIT,
    /** The acquisition does not wait. */
    NOT_WAITING,
    /** The acquisition does not hold its locks. */
    NOT_HELD,
    /** The acquisition has ended. */
    ENDED,
    /** Nobody holds the lock, or nobody with that token. */
    NO_HOLDER,
    /** The prefix is not frozen. */
    NOT_FROZEN,
    /** ZooKeeper's counter of the lock is at its end. */
    COUNTER_STUCK,
    /** The lock's queue is full. */
    QUEUE_FULL,
    /** The lease has as many entries as one ZooKeeper session may own, or as large ones. */
    LEASE_FULL,
    /** The coordinator serves as many leases or watches as it may, or as one client may have. */
    TOO_MANY,
    /**
     * ZooKeeper is out of reach, or has not answered in time, or the mirror is being rebuilt: it is
     * not certain what became of the request.
     */
    UNAVAILABLE,
    /** This coordinator is about to leave. */
    LEAVING,
    /** ZooKeeper refused the write for a reason that a retry does not mend. */
    STORE_REFUSED
  }
}
