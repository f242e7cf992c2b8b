import { create } from '@bufbuild/protobuf';
import { enumName } from './messages.js';
import { now } from './timers.js';
import type { Grant } from './events.js';
import { Request } from './requests.js';
import { ContendedSchema, type AcquireRequest, type AcquireResponse, type Granted, type ReleaseResponse } from './gen/lockkeeper/v1/acquisition_pb.js';
import { PreviousEndSchema } from './gen/lockkeeper/v1/types_pb.js';

/** How many requests and locks a client has at a time. */
export const MAX_REQUESTS = 10_000;

export type State = 'waiting' | 'held' | 'releasing' | 'ended';

/** Something that is settled once. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  settled = false;
  private accept!: (value: T) => void;
  private refuse!: (error: unknown) => void;

  constructor() {
    this.promise = new Promise((accept, refuse) => {
      this.accept = accept;
      this.refuse = refuse;
    });
    this.promise.catch(() => undefined); // nobody need ask how it went
  }

  resolve(value: T): void {
    this.settled = true;
    this.accept(value);
  }

  reject(error: unknown): void {
    this.settled = true;
    this.refuse(error);
  }
}

/** Makes its signal when somebody asks for it: that takes longer than all else of a lock that is kept. */
export class LossSignal {
  private controller: AbortController | undefined;
  private reason: Error | undefined;

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.reason !== undefined) {
        this.controller.abort(this.reason);
      }
    }
    return this.controller.signal;
  }

  abort(reason: Error): void {
    this.reason = reason;
    this.controller?.abort(reason);
  }
}

/** What is told about a request, besides its grant and its end. */
export type Told = (what: AcquireResponse['event'] | { case: 'gone'; value: string }) => void;

/** What a caller has asked for: a request of its own, or the use of a lock that is kept. */
export interface Hold {
  /** The request's name on the wire. */
  readonly id: string;
  readonly request: Request;
  readonly state: State;
  readonly grants: readonly Grant[];
  readonly lostReason: string;
  readonly holdLimit: number;
  readonly granted: Deferred<undefined>;
  readonly ended: Deferred<ReleaseResponse | undefined>;
  /** Until when the locks may be used. */
  until(leaseDeadline: number): number;
  /** The locks are not held any more, though nobody has released them. */
  lose(reason: string): void;
}

/** One request for locks, from the asking to its end. Its lease decides what happens to it. */
export class Acquisition implements Hold {
  state: State = 'waiting';
  /** Whether a server was asked, over a stream. */
  asked = false;
  giveUp: number;
  grants: readonly Grant[] = [];
  jeopardyUntil = Infinity;
  holdUntil = Infinity;
  lostReason = '';
  outers: readonly Acquisition[] = [];
  readonly ended = new Deferred<ReleaseResponse | undefined>();
  private epoch = 0n;
  private sequence = 0n;

  constructor(
    readonly id: string,
    readonly request: Request,
    readonly tell: Told,
    readonly granted = new Deferred<undefined>(),
  ) {
    this.giveUp = request.giveUp;
  }

  /** One that only a server knows, to be released; undefined: the event is final, or of a later version. */
  static ofUnknown({ requestId, event }: AcquireResponse): Acquisition | undefined {
    if (event.case === undefined || event.case === 'lost' || event.case === 'notAcquired' || event.case === 'released') {
      return undefined;
    }
    const unknown = new Acquisition(requestId, new Request('unknown', {}), () => undefined);
    unknown.state = 'releasing';
    return unknown;
  }

  until(leaseDeadline: number): number {
    return Math.min(leaseDeadline, this.jeopardyUntil, this.holdLimit);
  }

  /** Until when the server lets the locks be held. */
  get holdLimit(): number {
    return Math.min(this.holdUntil, ...this.outers.filter((outer) => outer.state !== 'ended').map((outer) => outer.holdUntil));
  }

  /** Notes which of all that are held this is a level above: their longest hold ends this one, too. Who has no owner has no levels. */
  nest(all: Iterable<Acquisition>): void {
    const { owner = '' } = this.request.options;
    if (owner === '') {
      return;
    }
    this.outers = [...all].filter(
      (other) =>
        other !== this &&
        other.state === 'held' &&
        other.request.options.owner === owner &&
        other.holdUntil !== Infinity &&
        other.grants.some((grant) => this.grants.some((mine) => mine.name === grant.name && mine.fencingToken === grant.fencingToken)),
    );
  }

  /** The request as it is sent, for the first time or once more. */
  message(): AcquireRequest {
    const wait = this.giveUp === Infinity ? undefined : this.giveUp - now();
    const maxHold = this.holdUntil === Infinity ? this.request.options.maxHold : this.holdUntil - now();
    return this.request.message(
      this.id,
      wait,
      this.grants.map((grant) => grant.fencingToken),
      maxHold,
    );
  }

  /** Whether an event is no repetition; notes that it was heard. */
  isNew(event: AcquireResponse): boolean {
    if (event.sequence <= 0n || event.epoch < this.epoch || (event.epoch === this.epoch && event.sequence <= this.sequence)) {
      return false;
    }
    this.epoch = event.epoch;
    this.sequence = event.sequence;
    return true;
  }

  onGranted(granted: Granted): void {
    this.state = 'held';
    this.grants = granted.grants.map((grant) => ({
      name: grant.name,
      fencingToken: BigInt(grant.fencingToken),
      previousEnd: enumName(PreviousEndSchema, grant.previousEnd),
      holdCount: grant.holdCount,
      waiters: grant.waiters,
    }));
    const { maxHold } = this.request.options;
    if (maxHold !== undefined) {
      this.holdUntil = now() + maxHold;
    }
    this.granted.resolve(undefined);
  }

  /** A server was told that it is released, or withdrawn. */
  onReleasing(): void {
    // What is kept has others who wait.
  }

  /** Returns whether it is the same hold; then whoever waits for it now is heard of. */
  onGrantedAgain({ grants }: Granted): boolean {
    if (grants.length !== this.grants.length || grants.some((grant, i) => BigInt(grant.fencingToken) !== this.grants[i]?.fencingToken)) {
      return false;
    }
    const wanted = grants.find((grant) => grant.waiters > 0);
    if (wanted !== undefined) {
      this.tell({ case: 'contended', value: create(ContendedSchema, { name: wanted.name, waiters: wanted.waiters }) });
    }
    return true;
  }

  /** The locks will not be held. */
  fail(error: Error): void {
    this.granted.reject(error);
    this.finish(undefined);
  }

  lose(reason: string): void {
    if (this.lostReason === '') {
      this.lostReason = reason;
      this.tell({ case: 'gone', value: reason });
    }
  }

  finish(result: ReleaseResponse | undefined): void {
    this.state = 'ended';
    this.ended.resolve(result);
  }
}
