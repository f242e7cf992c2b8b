/**
 * Locks across services, by Lockkeeper.
 *
 * @packageDocumentation
 */
export { Client, type ClientOptions } from './client.js';
export { Election, type Leader } from './election.js';
export { ClosedError, LeaseLostError, LockkeeperError, LockLostError, NotAcquiredError, RequestRefusedError, ServerUnavailableError } from './errors.js';
export type { Contended, Contender, Grant, LockChange, LockInfo, Place, ReleaseRequested, ReleaseResult, WatchEvent } from './events.js';
export { Lock } from './lock.js';
export type { Observation, Observer } from './observer.js';
export { custom, exclusive, LockSpec, permits, read, write, type LockOptions, type Locks } from './requests.js';
export type { TokenSource } from './transport.js';
