package io.lockkeeper.client;

/**
 * Why a server refused a request, for programs: see {@link RequestRefusedException#reason}. In
 * parentheses: the gRPC status code that comes with it.
 */
public enum ErrorReason {
  /** The server gave none, or one that this client does not know: see the status code. */
  UNKNOWN,
  /** A field is malformed or out of its range (INVALID_ARGUMENT). */
  INVALID_FIELD,
  /** No lease with that id lives (NOT_FOUND). */
  UNKNOWN_LEASE,
  /** The lease has no such acquisition (NOT_FOUND). */
  UNKNOWN_ACQUISITION,
  /** The stream has no such watch (NOT_FOUND). */
  UNKNOWN_WATCH,
  /** Nobody holds the lock, or nobody with that token (NOT_FOUND). */
  NO_HOLDER,
  /** The prefix is not frozen (NOT_FOUND). */
  NOT_FROZEN,
  /** The secret is not the lease's (FAILED_PRECONDITION). */
  WRONG_SECRET,
  /** The lease that was opened with that secret has ended (FAILED_PRECONDITION). */
  SECRET_USED,
  /** The id names another request of the lease (FAILED_PRECONDITION). */
  REQUEST_ID_IN_USE,
  /** The fencing token is not the acquisition's (FAILED_PRECONDITION). */
  WRONG_TOKEN,
  /** The lock is in use as another kind: mutex, read/write lock, permits (FAILED_PRECONDITION). */
  WRONG_KIND,
  /** The lock of permits has another limit, or none is known (FAILED_PRECONDITION). */
  WRONG_LIMIT,
  /** The acquisition does not wait (FAILED_PRECONDITION). */
  NOT_WAITING,
  /** The acquisition does not hold its locks (FAILED_PRECONDITION). */
  NOT_HELD,
  /** The acquisition has ended (FAILED_PRECONDITION). */
  ACQUISITION_ENDED,
  /** ZooKeeper's counter of the lock's directory is at its end (FAILED_PRECONDITION). */
  COUNTER_EXHAUSTED,
  /** The lock's queue is full (RESOURCE_EXHAUSTED). */
  QUEUE_FULL,
  /** The lease has as many entries as it may: use another client (RESOURCE_EXHAUSTED). */
  LEASE_FULL,
  /** The server has as much to do, or as many clients, as it may (RESOURCE_EXHAUSTED). */
  LIMIT_REACHED,
  /** The client did not read its stream fast enough (RESOURCE_EXHAUSTED). */
  SLOW_CONSUMER,
  /** The server has no ZooKeeper, or is reading it again (UNAVAILABLE). */
  NO_ZOOKEEPER,
  /** The server is about to leave (UNAVAILABLE). */
  DRAINING,
  /** Another server serves the lease from now on (UNAVAILABLE). */
  LEASE_MOVED,
  /** The connection is as old as connections get (UNAVAILABLE). */
  CONNECTION_TOO_OLD,
  /** The server that serves the lease cannot be reached (UNAVAILABLE). */
  COORDINATOR_UNREACHABLE,
  /** The same request came again on another stream (ABORTED). */
  SUPERSEDED,
  /** ZooKeeper refused the write, and would again: an operator must look (INTERNAL). */
  STORE_REFUSED,
  /** A fault of the server; its log says more (INTERNAL). */
  INTERNAL,
  /**
   * Nobody knows who calls: no client certificate and no bearer token, or one that does not count.
   */
  UNAUTHENTICATED,
  /** The caller lacks a right; the message names it. */
  PERMISSION_DENIED
}
