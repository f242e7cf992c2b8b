import type { Contender } from './events.js';

/** The base of all errors of this package. */
export class LockkeeperError extends Error {
  override name = 'LockkeeperError';
}

/** The client is closed, or was closed meanwhile; or the lock was released. */
export class ClosedError extends LockkeeperError {
  override name = 'ClosedError';
}

/** No server could be reached, or none answered within the request timeout. Whether a request was carried out is not known. */
export class ServerUnavailableError extends LockkeeperError {
  override name = 'ServerUnavailableError';
}

/** The locks were not granted, for a reason that a caller must expect. */
export class NotAcquiredError extends LockkeeperError {
  override name = 'NotAcquiredError';

  constructor(
    message: string,
    /** A `NotAcquiredReason` without its prefix: `TIMED_OUT`, `WOULD_DEADLOCK`, `QUEUE_FULL`, ... */
    readonly reason: string,
    /** Who held the locks, as far as known. */
    readonly holders: readonly Contender[] = [],
  ) {
    super(message);
  }
}

/** The lease ended while the request waited: ask again. */
export class LeaseLostError extends LockkeeperError {
  override name = 'LeaseLostError';

  constructor(
    message: string,
    /** Why the lease ended. */
    readonly reason: string,
  ) {
    super(message);
  }
}

/** The locks were held and are not any more: what was done under them may not have been protected. */
export class LockLostError extends LockkeeperError {
  override name = 'LockLostError';

  constructor(
    message: string,
    /** A `LossReason` without its prefix, or `DEADLINE_PASSED`: the client's own deadline. */
    readonly reason: string,
  ) {
    super(message);
  }
}

/** A server refused a request. */
export class RequestRefusedError extends LockkeeperError {
  override name = 'RequestRefusedError';

  constructor(
    message: string,
    /** An `ErrorReason` without its prefix. */
    readonly reason: string,
    /** The gRPC status code. */
    readonly code: number,
    /** The path of the field that was wrong, or empty. */
    readonly field = '',
    /** After how many milliseconds the same request may succeed; undefined: it never will. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}
