import { enumName, toMillis } from './messages.js';
import type { Contender as ContenderMessage, LockState } from './gen/lockkeeper/v1/types_pb.js';
import { LockModeSchema } from './gen/lockkeeper/v1/types_pb.js';
import type { Contended as ContendedMessage, QueuePosition, ReleaseRequested as ReleaseRequestedMessage } from './gen/lockkeeper/v1/acquisition_pb.js';

/** Proof of ownership of one lock. */
export interface Grant {
  readonly name: string;
  /** Rises with every grant of the lock: hand it to what the lock protects. 64 bits, so a bigint. */
  readonly fencingToken: bigint;
  /** How the holder before this one ended: `RELEASED`, `LEASE_EXPIRED`, ... */
  readonly previousEnd: string;
  /** How many acquisitions of the owner hold the lock, this one included. */
  readonly holdCount: number;
  /** With `notifyContention` or `keepUnused`: how many waited for the lock when it was granted. */
  readonly waiters: number;
}

/** A holder of a lock, or somebody who waits for it. Times are milliseconds. */
export interface Contender {
  readonly holder: string;
  readonly owner: string;
  readonly mode: string;
  readonly leaseTag: string;
  readonly requestId: string;
  /** 0n for a waiter. */
  readonly fencingToken: bigint;
  readonly metadata: Readonly<Record<string, string>>;
  readonly queuedFor: number;
  readonly heldFor: number;
  readonly permits: number;
  /** For how long a holder needs the lock yet, as it has answered; undefined: it has not. */
  readonly releaseIn: number | undefined;
}

/** The place in one lock's queue. */
export interface Place {
  readonly name: string;
  /** How many are ahead, holders included. */
  readonly ahead: number;
  readonly holders: readonly Contender[];
  /** Why nobody new is granted the lock; undefined: it is not frozen. */
  readonly frozen: string | undefined;
}

/** Somebody asks the holder to give way. */
export interface ReleaseRequested {
  readonly name: string;
  readonly requester: string;
  readonly reason: string;
  /** The milliseconds until the lock may be taken away by force; undefined: no limit. */
  readonly deadline: number | undefined;
}

/** Somebody waits for what is held, or it was frozen. */
export interface Contended {
  readonly name: string;
  /** How many wait; 0: nobody does, and the lock is frozen. */
  readonly waiters: number;
  /** Why nobody new is granted the lock; undefined: it is not frozen. */
  readonly frozen: string | undefined;
}

/** What a release did. */
export interface ReleaseResult {
  /**
   * `RELEASED`, `ALREADY_RELEASED`, `DECREMENTED` (one level of a reentrant hold was given back), `WITHDRAWN`, or `LOST` (the lock was lost,
   * or its lease ended before a server had confirmed).
   */
  readonly outcome: string;
  /** After `DECREMENTED`: how many levels are left. */
  readonly remainingHolds: number;
}

/** One lock as a server sees it. */
export interface LockInfo {
  readonly name: string;
  readonly holders: readonly Contender[];
  readonly queueLength: number;
  /** The first of those who wait. */
  readonly queue: readonly Contender[];
  readonly configuredLimit: number;
  readonly frozen: string | undefined;
}

/** One event of a watch. */
export type WatchEvent =
  | { readonly kind: 'snapshot'; readonly lock: LockInfo }
  | { readonly kind: 'snapshotEnd' }
  | { readonly kind: 'change'; readonly change: LockChange }
  /** Events may be missing: forget what was known, a new snapshot follows. */
  | { readonly kind: 'gap'; readonly reason: string };

/** How a lock has changed. */
export interface LockChange {
  readonly name: string;
  /** `QUEUED`, `GRANTED`, `RELEASED`, `WITHDRAWN`, `LEASE_ENDED`, ...; `UNSPECIFIED` where `coalesced` is above 1. */
  readonly cause: string;
  readonly contender: Contender | undefined;
  readonly holders: readonly Contender[];
  readonly queueLength: number;
  /** For how many changes this one stands. */
  readonly coalesced: number;
}

/** @internal */
export function toContender(message: ContenderMessage): Contender {
  return {
    holder: message.holder,
    owner: message.owner,
    mode: message.custom || enumName(LockModeSchema, message.mode),
    leaseTag: message.leaseTag,
    requestId: message.requestId,
    fencingToken: BigInt(message.fencingToken),
    metadata: { ...message.metadata },
    queuedFor: toMillis(message.queuedFor),
    heldFor: toMillis(message.heldFor),
    permits: message.permits,
    releaseIn: message.releaseIn === undefined ? undefined : toMillis(message.releaseIn),
  };
}

/** @internal */
export function toPlaces(positions: readonly QueuePosition[]): Place[] {
  return positions.map((position) => ({
    name: position.name,
    ahead: position.ahead,
    holders: position.holders.map(toContender),
    frozen: position.frozen?.reason,
  }));
}

/** @internal */
export function toReleaseRequested(message: ReleaseRequestedMessage): ReleaseRequested {
  return {
    name: message.name,
    requester: message.requester,
    reason: message.reason,
    deadline: message.deadline === undefined ? undefined : toMillis(message.deadline),
  };
}

/** @internal */
export function toContended(message: ContendedMessage): Contended {
  return { name: message.name, waiters: message.waiters, frozen: message.frozen?.reason };
}

/** @internal */
export function toLockInfo(state: LockState | undefined): LockInfo {
  return {
    name: state?.name ?? '',
    holders: (state?.holders ?? []).map(toContender),
    queueLength: state?.queueLength ?? 0,
    queue: (state?.queue ?? []).map(toContender),
    configuredLimit: state?.configuredLimit ?? 0,
    frozen: state?.frozen?.reason,
  };
}
