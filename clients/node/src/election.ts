import { runUnder } from './client.js';
import { LeaseLostError, LockLostError, NotAcquiredError, RequestRefusedError, ServerUnavailableError } from './errors.js';
import { backoff, now, pause } from './timers.js';
import type { Client } from './client.js';
import type { Contender } from './events.js';
import type { Lock } from './lock.js';
import type { LockOptions } from './requests.js';

/** The key of a leader's metadata under which clients of all languages say what it is. */
const LEADER = 'leader';
const SHORT_TERM = 5000; // after shorter terms there is a pause, which grows

/** Who leads. */
export interface Leader {
  /** What it says of itself. */
  readonly value: string;
  readonly fencingToken: bigint;
  readonly holder: string;
}

/** Elects one leader among candidates, who lead in the order in which they came: the holder of an exclusive lock. Made by `Client.election`. */
export class Election {
  /** @internal */
  constructor(
    private readonly client: Client,
    private readonly name: string,
  ) {}

  /**
   * Waits until this candidate is elected; its term ends with the lock, which cannot be kept unused. Errors are those of `Client.lock`.
   *
   * @param value what others shall know about it, up to 4,000 bytes
   */
  async campaign(value: string, options: LockOptions = {}): Promise<Lock> {
    if (Buffer.byteLength(value) > 4000) {
      throw new RangeError('value must be 4,000 bytes at most');
    }
    if (options.keepUnused !== undefined) {
      throw new RangeError('keepUnused must not be set for an election: nobody would lead, and others would see a leader');
    }
    return await this.client.lock(this.name, { deadlockCheck: false, ...options, metadata: { [LEADER]: value } });
  }

  /**
   * Leads whenever this candidate is elected, until work is done, and returns what it returns. When the leadership is lost, `leadership.signal` is
   * aborted, and when work has ended, its result is thrown away and the candidate goes back to the queue: work must bear to be run again. While no
   * server can be reached, it tries again after a growing pause. `options.signal` ends the wait, and no term: hand it to work, too.
   *
   * @throws what `options.signal` is aborted with, ClosedError, NotAcquiredError if the queue is full, RequestRefusedError if it is refused for good
   */
  async run<T>(value: string, work: (leadership: Lock) => Promise<T> | T, options: LockOptions = {}): Promise<T> {
    for (let failures = 1; ; failures++) {
      let least = 0;
      const began = now();
      let leadership: Lock | undefined;
      try {
        leadership = await this.campaign(value, options);
        return await runUnder(leadership, work);
      } catch (error) {
        if (leadership === undefined) {
          least = mayAskAgain(error);
        } else if (!(error instanceof LockLostError) || leadership.lostReason === undefined) {
          throw error;
        } else if (now() - began >= SHORT_TERM) {
          failures = 0;
        }
      }
      await pause(Math.max(least, backoff(failures)), options.signal);
    }
  }

  /** Who leads now, as a server sees it; undefined: nobody. */
  async leader(): Promise<Leader | undefined> {
    return leaderOf((await this.client.getLock(this.name)).holders);
  }

  /** Who leads, first as it is and then whenever that changes. */
  async *observe(signal?: AbortSignal): AsyncGenerator<Leader | undefined, void, undefined> {
    let seen: Leader | undefined;
    let told: string | undefined;
    for await (const event of this.client.watch([this.name], signal)) {
      if (event.kind === 'gap') {
        seen = undefined; // a snapshot follows
      } else if (event.kind === 'snapshot') {
        seen = leaderOf(event.lock.holders);
      } else {
        seen = event.kind === 'change' ? leaderOf(event.change.holders) : seen;
        const now = seen === undefined ? '' : `${String(seen.fencingToken)} ${seen.value}`;
        if (now !== told) {
          told = now;
          yield seen;
        }
      }
    }
  }
}

/** After what time at least; throws the error if it would be the same. */
function mayAskAgain(error: unknown): number {
  if (error instanceof LeaseLostError || error instanceof ServerUnavailableError) {
    return 0;
  }
  if (error instanceof NotAcquiredError && error.reason === 'REMOVED') {
    return 0;
  }
  if (error instanceof RequestRefusedError && error.retryAfter !== undefined) {
    return error.retryAfter;
  }
  throw error;
}

function leaderOf(holders: readonly Contender[]): Leader | undefined {
  const holder = holders.find((each) => each.fencingToken > 0n);
  return holder === undefined ? undefined : { value: holder.metadata[LEADER] ?? '', fencingToken: holder.fencingToken, holder: holder.holder };
}
