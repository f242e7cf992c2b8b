import { create } from '@bufbuild/protobuf';
import { toDuration } from './messages.js';
import { now } from './timers.js';
import type { Contended, Place, ReleaseRequested } from './events.js';
import { AcquireRequestSchema, DeadlockCheck, LockRequestSchema, type AcquireRequest } from './gen/lockkeeper/v1/acquisition_pb.js';
import { LockMode } from './gen/lockkeeper/v1/types_pb.js';

const DAY = 86_400_000;

/** One lock of a request and how it is to be held; made by `exclusive`, `read`, `write`, `permits` and `custom`. */
export class LockSpec {
  /** @internal */
  constructor(
    /** The lock's name. */
    readonly name: string,
    /** @internal */
    readonly mode: LockMode,
    /** @internal */
    readonly count = 0,
    /** @internal */
    readonly limit = 0,
    /** @internal */
    readonly custom = '',
  ) {
    checkName(name);
  }
}

/** One holder at a time. */
export function exclusive(name: string): LockSpec {
  return new LockSpec(name, LockMode.EXCLUSIVE);
}

/** Shared with other readers, excludes writers. */
export function read(name: string): LockSpec {
  return new LockSpec(name, LockMode.READ);
}

/** The writing side of a read/write lock. */
export function write(name: string): LockSpec {
  return new LockSpec(name, LockMode.WRITE);
}

/**
 * Some of the permits of a lock.
 *
 * @param limit how many it has in all, up to 1,000,000; 0: as it was configured, or as others in the queue have named it
 */
export function permits(name: string, count: number, limit = 0): LockSpec {
  within('limit', limit, 0, 1_000_000);
  within('permits', count, 1, limit || 1_000_000);
  ensure(Number.isInteger(limit), 'limit', 'a whole number', limit);
  ensure(Number.isInteger(count), 'permits', 'a whole number', count);
  return new LockSpec(name, LockMode.PERMITS, count, limit);
}

/** A mode of a kind that the servers were extended with. */
export function custom(name: string, mode: string): LockSpec {
  ensureType(typeof mode === 'string', 'mode', 'a string', mode);
  ensure(mode !== '', 'mode', 'named', mode);
  return new LockSpec(name, LockMode.CUSTOM, 0, 0, mode);
}

/** A name, which is an exclusive lock, or a lock of any kind, or several of them. */
export type Locks = string | LockSpec | readonly (string | LockSpec)[];

/** How to ask for locks. Times are milliseconds. */
export interface LockOptions {
  /** The longest wait, 0 (only if the locks are free) to 7 days. Default: as long as it takes. */
  readonly wait?: number;
  /** Withdraws the request when it is aborted. */
  readonly signal?: AbortSignal;
  /** Who asks inside this client, up to 256 bytes: what an owner holds it is granted again, and its waits are searched for cycles. */
  readonly owner?: string;
  /** Who asks, human-readable, up to 256 bytes. Default: the client's holder. */
  readonly holder?: string;
  /** Shown to others: up to 32 entries, 4 KiB in all. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The longest hold, 100 ms to 7 days; then the locks are lost. */
  readonly maxHold?: number;
  /** If this holder is lost rather than releases, how long the next grant waits: up to an hour. */
  readonly lockDelay?: number;
  /** How often a change of the place in the queue is told at most: 100 ms to an hour. */
  readonly positionInterval?: number;
  /** Whether the request takes part in the search for cycles of waits. Default: if it has an owner. */
  readonly deadlockCheck?: boolean;
  /** Whether the holder is told when somebody waits for what it holds, by `waiters` of the grants and `onContended`. Default: if there is an `onContended`. */
  readonly notifyContention?: boolean;
  /**
   * For how long a lock that was released is kept, 100 ms to an hour, and given without a message to the next in this client who asks alike, as long as nobody else
   * wants it: with the same fencing tokens. Who finds it in use or asked for by another in this client waits here. Not together with `maxHold`; with an owner, no cycles of waits
   * are searched. Default: it is not kept.
   */
  readonly keepUnused?: number;
  /** Called with the places in the queues. */
  readonly onQueued?: (places: readonly Place[]) => void;
  /** Called when somebody asks the holder to give way. */
  readonly onReleaseRequested?: (asked: ReleaseRequested) => void;
  /** Called once for a hold when somebody waits for the locks, or they were frozen: with the grant, or later. */
  readonly onContended?: (contended: Contended) => void;
  /** Called when the servers have lost ZooKeeper: for how many milliseconds the locks are good. */
  readonly onJeopardy?: (validFor: number) => void;
  /** Called when that is over. */
  readonly onSafe?: () => void;
  /** Called when the locks are lost, with the reason. */
  readonly onLost?: (reason: string) => void;
}

function ensure(ok: boolean, name: string, rule: string, value: unknown): void {
  if (!ok) {
    const shown = typeof value === 'number' ? String(value) : JSON.stringify(value);
    throw new RangeError(`${name} must be ${rule}, not ${shown.length > 80 ? `${shown.slice(0, 80)}…` : shown}`);
  }
}

function ensureType(ok: boolean, name: string, type: string, value: unknown): void {
  if (!ok) {
    throw new TypeError(`${name} must be ${type}, not ${typeof value}`);
  }
}

/** @internal */
export function within(name: string, value: number, least: number, most: number): void {
  ensureType(typeof value === 'number', name, 'a number', value);
  ensure(value >= least && value <= most, name, `${String(least)} to ${String(most)}`, value);
}

/** @internal */
export function checkLabel(name: string, value: string | undefined): void {
  ensureType(value === undefined || typeof value === 'string', name, 'a string', value);
  ensure(value === undefined || Buffer.byteLength(value) <= 256, name, '256 bytes of UTF-8 at most', value);
}

/** @internal */
export function checkName(name: string): void {
  ensureType(typeof name === 'string', 'name', 'a string', name);
  ensure(Buffer.byteLength(name) >= 1 && Buffer.byteLength(name) <= 512, 'name', '1 to 512 bytes of UTF-8', name);
  ensure(!/\p{Cc}/u.test(name), 'name', 'without control characters', name);
  const segments = name.split('/');
  ensure(segments.length <= 16, 'name', 'of 16 segments at most', name);
  ensure(!segments.some((each) => each === '' || each === '.' || each === '..'), 'name', 'without empty segments, "." and ".."', name);
}

/** @internal */
export function checkMetadata(metadata: Readonly<Record<string, string>>): void {
  const entries = Object.entries(metadata);
  const size = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  ensure(entries.length <= 32, 'metadata', '32 entries at most', entries.length);
  ensure(size <= 4096, 'metadata', '4096 bytes at most in all', size);
  ensureType(!entries.some(([, value]) => typeof value !== 'string'), 'metadata', 'of strings', metadata);
  ensure(!entries.some(([key]) => key === ''), 'metadata', 'without empty keys', '');
}

function isExclusive(spec: LockSpec): boolean {
  return spec.mode === LockMode.EXCLUSIVE || spec.mode === LockMode.WRITE;
}

/** @internal A request that was checked. */
export class Request {
  readonly specs: readonly LockSpec[];
  /** When its wait limit is over, as a reading of `performance.now()`; Infinity: never. */
  readonly giveUp: number;

  constructor(
    locks: Locks,
    readonly options: LockOptions,
  ) {
    const all: readonly unknown[] = Array.isArray(locks) ? locks : [locks];
    this.specs = all.map((lock) => {
      ensureType(typeof lock === 'string' || lock instanceof LockSpec, 'locks', 'a name, a LockSpec, or an array of them', lock);
      return lock instanceof LockSpec ? lock : exclusive(lock as string);
    });
    ensure(this.specs.length >= 1 && this.specs.length <= 64, 'locks', '1 to 64', this.specs.length);
    const names = this.specs.map((spec) => spec.name);
    ensure(new Set(names).size === names.length, 'locks', 'named once each', names);
    checkLabel('owner', options.owner);
    checkLabel('holder', options.holder);
    checkMetadata(options.metadata ?? {});
    within('wait', options.wait ?? 0, 0, 7 * DAY);
    within('maxHold', options.maxHold ?? 100, 100, 7 * DAY);
    within('lockDelay', options.lockDelay ?? 0, 0, 3_600_000);
    within('positionInterval', options.positionInterval ?? 100, 100, 3_600_000);
    within('keepUnused', options.keepUnused ?? 100, 100, 3_600_000);
    if (options.keepUnused !== undefined && options.maxHold !== undefined) {
      throw new RangeError('keepUnused and maxHold exclude each other');
    }
    this.giveUp = options.wait === undefined ? Infinity : now() + options.wait;
  }

  toString(): string {
    return this.specs.map((spec) => JSON.stringify(spec.name)).join(', ');
  }

  /** The same of all requests that are alike: what one of them was granted does for another. */
  get likeness(): string {
    return JSON.stringify([Math.round(this.options.lockDelay ?? 0), this.specs]);
  }

  /** Whether no two such requests are granted at a time. */
  get isExclusive(): boolean {
    return this.specs.some(isExclusive);
  }

  /** Whether it takes a part of something that each request takes anew, an owner's too. */
  get takesItsOwn(): boolean {
    return this.specs.some((spec) => spec.mode === LockMode.PERMITS || spec.mode === LockMode.CUSTOM);
  }

  /** Whether it would wait for the other one, over one of the locks. */
  excludes(other: Request): boolean {
    return this.specs.some((mine) => other.specs.some((spec) => spec.name === mine.name && (isExclusive(mine) || isExclusive(spec))));
  }

  /** What is asked of a server for a lock that is kept: nothing in it is of one user alone but what others are shown. */
  toKept(): Request {
    const { holder, metadata, lockDelay, positionInterval } = this.options;
    return new Request(this.specs, {
      ...(holder === undefined ? {} : { holder }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(lockDelay === undefined ? {} : { lockDelay }),
      ...(positionInterval === undefined ? {} : { positionInterval }),
      deadlockCheck: false,
      notifyContention: true,
    });
  }

  /** Whether the caller wants to be told when somebody waits for what it holds. */
  get notifiesContention(): boolean {
    return this.options.notifyContention ?? this.options.onContended !== undefined;
  }

  message(requestId: string, wait: number | undefined, tokens: readonly bigint[], maxHold: number | undefined): AcquireRequest {
    const { options } = this;
    const message = create(AcquireRequestSchema, {
      requestId,
      owner: options.owner ?? '',
      holder: options.holder ?? '',
      metadata: { ...options.metadata },
      heldTokens: tokens.map(String),
      notifyContention: this.notifiesContention,
      locks: this.specs.map((spec) =>
        create(LockRequestSchema, { name: spec.name, mode: spec.mode, permits: spec.count, limit: spec.limit, custom: spec.custom }),
      ),
    });
    if (wait !== undefined) {
      message.waitTimeout = toDuration(Math.max(0, wait));
    }
    if (maxHold !== undefined) {
      message.maxHold = toDuration(Math.max(100, maxHold));
    }
    if (options.lockDelay !== undefined) {
      message.lockDelay = toDuration(Math.round(options.lockDelay));
    }
    if (options.positionInterval !== undefined) {
      message.positionInterval = toDuration(options.positionInterval);
    }
    if (options.deadlockCheck !== undefined) {
      message.deadlockCheck = options.deadlockCheck ? DeadlockCheck.ON : DeadlockCheck.OFF;
    }
    return message;
  }
}
