/// <reference lib="esnext.disposable" preserve="true" />
import { inspect } from 'node:util';
import { create } from '@bufbuild/protobuf';
import { ClosedError, LockLostError } from './errors.js';
import { enumName, toDuration } from './messages.js';
import { safely, type Observation } from './observer.js';
import { checkMetadata, within, type Request } from './requests.js';
import { limited, now } from './timers.js';
import type { Hold, LossSignal } from './acquisition.js';
import type { Client } from './client.js';
import type { Grant, ReleaseResult } from './events.js';
import type { Lease } from './lease.js';
import { AnswerReleaseRequestSchema, ReleaseOutcomeSchema, UpdateMetadataRequestSchema } from './gen/lockkeeper/v1/acquisition_pb.js';

/** @internal */
export function lossOf(request: Request, reason: string): LockLostError {
  return new LockLostError(`${String(request)}: the lock is lost: ${reason}`, reason);
}

/** What a lock is made of. @internal */
export interface Holding {
  readonly client: Client;
  readonly lease: Lease;
  readonly hold: Hold;
  readonly release: () => void;
  readonly observation: Observation | undefined;
  readonly loss: LossSignal;
  readonly requestTimeout: number;
}

/**
 * One lock or several that are held, or were: proof, guard and deadline.
 *
 * A distributed lock is no mutex: a process that pauses between {@link Lock.valid} and what it does next may act after the lock has passed on. Hand
 * the {@link Lock.fencingToken} to what the lock protects and let that refuse any token below the highest that it has seen.
 */
export class Lock implements AsyncDisposable {
  private readonly since = now();
  private released = false;

  /** @internal */
  constructor(private readonly holding: Holding) {}

  /** Aborted when the locks are lost, with a {@link LockLostError} as the reason. */
  get signal(): AbortSignal {
    return this.holding.loss.signal;
  }

  /** @internal For the console: nothing that is secret. */
  [inspect.custom](): string {
    return `Lock { ${String(this.holding.hold.request)}, fencingToken: ${String(this.fencingToken)}n, valid: ${String(this.valid)} }`;
  }

  /** The lock's name; of several, the first one's. */
  get name(): string {
    return this.first.name;
  }

  /** Above zero, and higher than that of any holder before. 64 bits, so a bigint. Of several locks, the first one's. */
  get fencingToken(): bigint {
    return this.first.fencingToken;
  }

  /** The proof for each lock, in the order of the request. */
  get grants(): readonly Grant[] {
    return this.holding.hold.grants;
  }

  private get first(): Grant {
    const [first] = this.grants;
    if (first === undefined) {
      throw new Error('a lock without a grant');
    }
    return first;
  }

  /** Whether the locks may be used now: not released, not lost, deadline not passed. It looks at the clock and asks nobody. */
  get valid(): boolean {
    return this.holding.lease.isValid(this.holding.hold);
  }

  /** For how many milliseconds the locks may be used without another answer of a server; 0: not at all. */
  get remaining(): number {
    return this.valid ? Math.max(0, this.validUntil - now()) : 0;
  }

  /** The deadline as a reading of `performance.now()`. It moves on with every keep-alive that is answered. */
  get validUntil(): number {
    return this.holding.hold.until(this.holding.lease.deadline);
  }

  /** Why the locks were lost; undefined: they were not. */
  get lostReason(): string | undefined {
    const { lostReason } = this.holding.hold;
    if (lostReason !== '') {
      return lostReason;
    }
    if (this.released || this.valid) {
      return undefined;
    }
    return now() >= this.holding.hold.holdLimit ? 'MAX_HOLD' : 'DEADLINE_PASSED'; // timers may be late
  }

  /**
   * Returns if the locks may be used now.
   *
   * @throws LockLostError if they are lost or their deadline has passed
   * @throws ClosedError if they were released
   */
  check(): void {
    const reason = this.lostReason;
    if (reason !== undefined) {
      throw this.loss(reason);
    }
    if (this.released) {
      throw new ClosedError(`${String(this.holding.hold.request)}: the lock was released`);
    }
  }

  /** @internal */
  loss(reason: string): LockLostError {
    return lossOf(this.holding.hold.request, reason);
  }

  /**
   * Releases the locks, and waits until that is certain, for the request timeout at most; the release goes on then. From the call on,
   * {@link Lock.valid} is false. It does not throw if the locks were lost.
   */
  async release(): Promise<ReleaseResult> {
    const { hold, observation, requestTimeout } = this.holding;
    if (!this.released) {
      const reason = this.lostReason;
      this.released = true;
      if (reason === undefined) {
        safely(() => observation?.released?.(now() - this.since));
      } else {
        hold.lose(reason);
      }
      if (reason !== 'MAX_HOLD') {
        this.holding.release(); // that the server takes away
      }
    }
    // Of locks that were lost nobody need wait for the server's word.
    const lost = hold.lostReason !== '' && !hold.ended.settled;
    const ended = hold.ended.settled ? hold.ended.promise : limited(hold.ended.promise, requestTimeout);
    const result = lost ? undefined : await ended.catch(() => undefined);
    return result === undefined
      ? { outcome: 'LOST', remainingHolds: 0 }
      : { outcome: enumName(ReleaseOutcomeSchema, result.outcome), remainingHolds: result.remainingHolds };
  }

  /** {@link Lock.release}; throws a {@link LockLostError} if the locks were lost before, so that work that was not protected is noticed. */
  async [Symbol.asyncDispose](): Promise<void> {
    const reason = this.lostReason;
    await this.release();
    if (reason !== undefined) {
      throw this.loss(reason);
    }
  }

  /**
   * Replaces the metadata: those who wait or watch are told.
   *
   * @throws LockLostError, ClosedError, ServerUnavailableError, RequestRefusedError, or RangeError if it is too much
   */
  async updateMetadata(metadata: Readonly<Record<string, string>>): Promise<void> {
    checkMetadata(metadata);
    this.check();
    const { hold, lease } = this.holding;
    const value = create(UpdateMetadataRequestSchema, { requestId: hold.id, metadata: { ...metadata } });
    await lease.questions.ask('updateMetadata', hold.id, { case: 'updateMetadata', value });
  }

  /** Says for how many milliseconds, up to 7 days, the locks are still needed. Errors are those of {@link Lock.updateMetadata}. */
  async answerRelease(needs: number): Promise<void> {
    within('needs', needs, 0, 604_800_000);
    this.check();
    const { hold, lease } = this.holding;
    const value = create(AnswerReleaseRequestSchema, { requestId: hold.id, needs: toDuration(needs) });
    await lease.questions.ask('answerRelease', hold.id, { case: 'answerRelease', value });
  }
}
