/// <reference lib="esnext.disposable" preserve="true" />
/**
 * A server in memory, for tests of code that uses locks: the real client talks to it, and the test says what goes wrong.
 *
 * ```ts
 * const server = await FakeServer.start();
 * const client = new Client(server.address);
 * ...
 * server.lose('orders/42');
 * ```
 *
 * It has sessions, all modes of locks, queues in order, reentrancy by owner, wait limits, releases and keep-alives, tells holders who wish it that
 * somebody waits, and answers GetLock and ListLocks. It has no ZooKeeper, no watches, no search for cycles of waits, and no limits.
 *
 * @packageDocumentation
 */
import { randomBytes } from 'node:crypto';
import { create, fromBinary, toBinary, type DescMessage, type DescMethodUnary, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { Server, ServerCredentials, status, type sendUnaryData, type ServerDuplexStream, type ServerUnaryCall } from '@grpc/grpc-js';
import { toDuration, toMillis } from './messages.js';
import { AcquireResponseSchema, ReleaseOutcome, type AcquireRequest, type AcquireResponse, type LockRequest } from './gen/lockkeeper/v1/acquisition_pb.js';
import { LockService } from './gen/lockkeeper/v1/lock_service_pb.js';
import {
  GoingAwayReason,
  SessionRequestSchema,
  SessionResponseSchema,
  type OpenSession,
  type SessionRequest,
  type SessionResponse,
} from './gen/lockkeeper/v1/session_pb.js';
import { LeaseEndReason, LockMode, LossReason, NotAcquiredReason, type LockState } from './gen/lockkeeper/v1/types_pb.js';
import type { ContenderSchema, LockStateSchema } from './gen/lockkeeper/v1/types_pb.js';

type Stream = ServerDuplexStream<SessionRequest, SessionResponse>;
type EventInit = NonNullable<MessageInitShape<typeof AcquireResponseSchema>['event']>;
type ResponseInit = NonNullable<MessageInitShape<typeof SessionResponseSchema>['response']>;

interface GrantInit {
  readonly name: string;
  readonly fencingToken: string;
  readonly holdCount: number;
}

interface Lease {
  readonly id: string;
  readonly ttl: number;
  readonly requests: Map<string, Asked>;
  stream: Stream | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** One request of a lease, in the queues of all its locks. */
interface Asked {
  readonly lease: Lease;
  readonly message: AcquireRequest;
  tokens: bigint[];
  grants: readonly GrantInit[];
  last: AcquireResponse | undefined;
  isContentionTold: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** How messages of a kind are written and read. */
function codec<S extends DescMessage>(schema: S): [(message: MessageShape<S>) => Buffer, (bytes: Buffer) => MessageShape<S>] {
  return [(message) => Buffer.from(toBinary(schema, message)), (bytes) => fromBinary(schema, bytes)];
}

/** Serves a call that is answered once. */
function serve<I extends DescMessage, O extends DescMessage>(
  server: Server,
  method: DescMethodUnary<I, O>,
  answerTo: (request: MessageShape<I>) => MessageInitShape<O>,
): void {
  const handle = (call: ServerUnaryCall<MessageShape<I>, MessageShape<O>>, answer: sendUnaryData<MessageShape<O>>): void => {
    answer(null, create(method.output, answerTo(call.request)));
  };
  server.register(`/${method.parent.typeName}/${method.name}`, handle, codec(method.output)[0], codec(method.input)[1], 'unary');
}

function lockOf(asked: Asked, name: string): LockRequest | undefined {
  return asked.message.locks.find((lock) => lock.name === name);
}

function modeOf(asked: Asked, name: string): LockMode {
  const mode = lockOf(asked, name)?.mode ?? LockMode.UNSPECIFIED;
  return mode === LockMode.UNSPECIFIED ? LockMode.EXCLUSIVE : mode;
}

function tokenOf(asked: Asked, name: string): bigint {
  return asked.tokens[asked.message.locks.findIndex((lock) => lock.name === name)] ?? 0n;
}

function isOwnedWith(one: Asked, other: Asked): boolean {
  return one.lease === other.lease && one.message.owner !== '' && one.message.owner === other.message.owner;
}

/** A server in memory, on a free port of this machine. It grants, and shows locks; it serves no watches, tokens, limits or requests of others to release. */
export class FakeServer implements AsyncDisposable {
  /** How many requests for locks and releases have come: for what a client keeps, none do. */
  received = 0;
  private server: Server | undefined;
  private port = 0;
  private readonly leases = new Map<string, Lease>();
  private readonly bySecret = new Map<string, Lease>();
  private readonly queues = new Map<string, Asked[]>();
  private token = 1n << 60n; // beyond what a double holds
  private frozen = false;
  private sequence = 0n;

  private constructor() {
    // Made by start.
  }

  /** Starts a server. */
  static async start(): Promise<FakeServer> {
    const fake = new FakeServer();
    await fake.listen();
    return fake;
  }

  /** Where it listens, as `host:port`. */
  get address(): string {
    return `127.0.0.1:${String(this.port)}`;
  }

  /**
   * Takes a lock away from its holders, for the reason FORCED.
   *
   * @throws Error if nobody holds it
   */
  lose(name: string): void {
    const holding = (this.queues.get(name) ?? []).filter((each) => each.tokens.length > 0);
    if (holding.length === 0) {
      throw new Error(`nobody holds ${JSON.stringify(name)}`);
    }
    for (const asked of holding) {
      this.end(asked, { case: 'lost', value: { reason: LossReason.FORCED, message: 'taken away by a test' } });
    }
  }

  /** Ends all leases, as if none had been renewed in time. */
  expireLeases(): void {
    for (const lease of [...this.leases.values()]) {
      this.endLease(lease, LeaseEndReason.EXPIRED);
    }
  }

  /** Asks the holders of a lock to give way. */
  requestRelease(name: string, requester = 'a test', reason = ''): void {
    for (const asked of (this.queues.get(name) ?? []).filter((each) => each.tokens.length > 0)) {
      this.tell(asked, { case: 'releaseRequested', value: { name, requester, reason } });
    }
  }

  /** Tells all holders that the server has lost ZooKeeper, and vouches for so many milliseconds yet. */
  jeopardize(validFor = 10_000): void {
    this.tellHolders({ case: 'jeopardy', value: { validFor: toDuration(validFor) } });
  }

  /** Tells all holders that the jeopardy is over. */
  makeSafe(): void {
    this.tellHolders({ case: 'safe', value: { validFor: toDuration(60_000) } });
  }

  /** Breaks all streams. Leases live on, and clients come back. */
  disconnect(): void {
    for (const lease of this.leases.values()) {
      this.cut(lease);
    }
  }

  /** Answers nothing from now on, keep-alives neither. Connections stay. */
  freeze(): void {
    this.frozen = true;
  }

  /** Answers again what comes from now on. */
  thaw(): void {
    this.frozen = false;
  }

  /** Stops listening and breaks all connections. Leases live on until their time is over. */
  stop(): void {
    this.server?.forceShutdown();
    this.server = undefined;
  }

  /** Listens, again at the same port. */
  async listen(): Promise<void> {
    const server = new Server();
    const [sessionOut, sessionIn] = [codec(SessionResponseSchema)[0], codec(SessionRequestSchema)[1]];
    server.register(`/${LockService.typeName}/Session`, this.onSession.bind(this), sessionOut, sessionIn, 'bidi');
    serve(server, LockService.method.getLock, ({ name }) => ({ lock: this.state(name) }));
    serve(server, LockService.method.listLocks, ({ prefix }) => {
      const names = [...this.queues.keys()].filter((name) => name.startsWith(prefix)).sort();
      return { locks: names.map((name) => this.state(name)) };
    });
    this.port = await new Promise<number>((done, fail) => {
      server.bindAsync(this.address, ServerCredentials.createInsecure(), (error, port) => {
        if (error === null) {
          done(port);
        } else {
          fail(error);
        }
      });
    });
    this.server = server;
  }

  /** Ends it. */
  close(): void {
    this.stop();
    for (const lease of this.leases.values()) {
      clearTimeout(lease.timer);
      lease.requests.forEach((asked) => {
        clearTimeout(asked.timer);
      });
    }
  }

  /** {@link FakeServer.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  // Sessions.

  private onSession(stream: Stream): void {
    let lease: Lease | undefined;
    stream.on('data', (message: SessionRequest) => {
      const { request } = message;
      if (lease === undefined) {
        lease = request.case === 'open' ? this.open(request.value, stream) : undefined;
        return;
      }
      const all = request.case === 'batch' ? request.value.requests : [message];
      for (const each of all) {
        if (!this.frozen) {
          this.take(lease, each);
        }
      }
    });
    const gone = (): void => {
      if (lease?.stream === stream) {
        lease.stream = undefined;
      }
    };
    stream.on('cancelled', gone);
    stream.on('error', gone);
    stream.on('end', gone);
  }

  private open(opening: OpenSession, stream: Stream): Lease | undefined {
    let lease = opening.leaseId === '' ? this.bySecret.get(opening.leaseSecret) : this.leases.get(opening.leaseId);
    if (lease === undefined && opening.leaseId !== '') {
      stream.emit('error', Object.assign(new Error('no such lease'), { code: status.NOT_FOUND, details: 'no such lease' }));
      return undefined;
    }
    if (lease === undefined) {
      const ttl = opening.ttl === undefined ? 15_000 : toMillis(opening.ttl);
      lease = { id: randomBytes(16).toString('hex'), ttl, requests: new Map(), stream: undefined, timer: undefined };
      this.leases.set(lease.id, lease);
      this.bySecret.set(opening.leaseSecret, lease);
    }
    if (lease.stream !== undefined) {
      this.say(lease, { case: 'goingAway', value: { reason: GoingAwayReason.SUPERSEDED } });
      lease.stream.end();
    }
    lease.stream = stream;
    this.renew(lease);
    const keepAliveInterval = toDuration(lease.ttl / 4);
    const leaseTag = lease.id.slice(0, 16);
    const value = { leaseId: lease.id, leaseTag, ttl: toDuration(lease.ttl), validFor: toDuration(lease.ttl), keepAliveInterval, batches: true };
    this.say(lease, { case: 'opened', value: { ...value, resumed: opening.leaseId !== '' } });
    lease.requests.forEach((asked) => {
      this.repeat(asked);
    });
    return lease;
  }

  private take(lease: Lease, message: SessionRequest): void {
    const { request } = message;
    switch (request.case) {
      case 'keepAlive': {
        this.renew(lease);
        const { nonce } = request.value;
        const value = { nonce, validFor: toDuration(lease.ttl), keepAliveInterval: toDuration(lease.ttl / 4) };
        this.say(lease, { case: 'keptAlive', value });
        break;
      }
      case 'acquire':
        this.received++;
        this.acquire(lease, request.value);
        break;
      case 'release':
        this.received++;
        this.release(lease, request.value.requestId);
        break;
      case 'updateMetadata': {
        const asked = lease.requests.get(request.value.requestId);
        if (asked !== undefined) {
          asked.message.metadata = request.value.metadata;
        }
        this.say(lease, { case: 'metadataUpdated', value: { requestId: request.value.requestId } });
        break;
      }
      case 'answerRelease':
        this.say(lease, { case: 'releaseAnswered', value: { requestId: request.value.requestId } });
        break;
      case 'close':
        this.endLease(lease, LeaseEndReason.CLOSED);
        break;
      default:
    }
  }

  private renew(lease: Lease): void {
    clearTimeout(lease.timer);
    lease.timer = setTimeout(() => {
      this.endLease(lease, LeaseEndReason.EXPIRED);
    }, lease.ttl);
    lease.timer.unref();
  }

  private endLease(lease: Lease, reason: LeaseEndReason): void {
    if (this.leases.delete(lease.id)) {
      clearTimeout(lease.timer);
      this.bySecret.forEach((other, secret) => {
        if (other === lease) {
          this.bySecret.delete(secret);
        }
      });
      [...lease.requests.values()].forEach((asked) => {
        this.drop(asked);
      });
      this.say(lease, { case: 'leaseEnded', value: { reason } });
      lease.stream?.end();
      this.decide();
    }
  }

  private cut(lease: Lease): void {
    const { stream } = lease;
    lease.stream = undefined;
    stream?.emit('error', Object.assign(new Error('disconnected by a test'), { code: status.UNAVAILABLE, details: 'disconnected by a test' }));
  }

  // Requests and queues.

  private acquire(lease: Lease, message: AcquireRequest): void {
    const known = lease.requests.get(message.requestId);
    if (known !== undefined) {
      known.message.notifyContention = message.notifyContention;
      if (known.tokens.length > 0) {
        this.tellGranted(known); // as a server that has taken the lease over
      } else {
        this.repeat(known);
      }
      this.tellContention();
      return;
    }
    const asked: Asked = { lease, message, tokens: [], grants: [], last: undefined, isContentionTold: false, timer: undefined };
    if (message.heldTokens.length > 0) {
      this.tell(asked, { case: 'lost', value: { reason: LossReason.REMOVED } });
      return;
    }
    lease.requests.set(message.requestId, asked);
    for (const { name } of message.locks) {
      this.queues.set(name, [...(this.queues.get(name) ?? []), asked]);
    }
    this.decide();
    if (asked.tokens.length === 0) {
      const positions = message.locks.map(({ name }) => ({ name, ahead: this.queues.get(name)?.indexOf(asked) ?? 0 }));
      this.tell(asked, { case: 'queued', value: { positions } });
      if (message.waitTimeout !== undefined) {
        asked.timer = setTimeout(() => {
          this.end(asked, { case: 'notAcquired', value: { reason: NotAcquiredReason.TIMED_OUT, message: 'the wait limit ran out' } });
        }, toMillis(message.waitTimeout));
      }
    }
  }

  private release(lease: Lease, requestId: string): void {
    const asked = lease.requests.get(requestId);
    let outcome = ReleaseOutcome.ALREADY_RELEASED;
    let remainingHolds = 0;
    if (asked !== undefined && asked.tokens.length > 0) {
      const name = asked.message.locks[0]?.name ?? '';
      remainingHolds = (this.queues.get(name) ?? []).filter((other) => other !== asked && other.tokens.length > 0 && isOwnedWith(other, asked)).length;
      outcome = remainingHolds > 0 ? ReleaseOutcome.DECREMENTED : ReleaseOutcome.RELEASED;
      this.end(asked, { case: 'released', value: {} });
    } else if (asked !== undefined) {
      outcome = ReleaseOutcome.WITHDRAWN;
      this.end(asked, { case: 'notAcquired', value: { reason: NotAcquiredReason.WITHDRAWN } });
    }
    this.say(lease, { case: 'released', value: { requestId, result: { outcome, remainingHolds } } });
  }

  /** Grants what everything ahead of it lets in. */
  private decide(): void {
    const granted: Asked[] = [];
    for (let again = true; again;) {
      again = false;
      for (const asked of [...this.queues.values()].flat()) {
        if (asked.tokens.length === 0 && asked.message.locks.every(({ name }) => this.admits(name, asked))) {
          this.grant(asked);
          granted.push(asked);
          again = true;
        }
      }
    }
    for (const asked of granted) {
      this.tellGranted(asked);
    }
    this.tellContention();
  }

  private admits(name: string, asked: Asked): boolean {
    const queue = this.queues.get(name) ?? [];
    const mode = modeOf(asked, name);
    const mayJoin = (other: Asked): boolean => modeOf(other, name) === mode || (modeOf(other, name) === LockMode.WRITE && mode === LockMode.READ);
    if (mode !== LockMode.PERMITS && queue.some((other) => other.tokens.length > 0 && isOwnedWith(other, asked) && mayJoin(other))) {
      return true;
    }
    const ahead = queue.slice(0, queue.indexOf(asked));
    if (mode === LockMode.READ) {
      return ahead.every((other) => modeOf(other, name) === LockMode.READ);
    }
    if (mode === LockMode.PERMITS) {
      const limit = Math.max(1, ...queue.map((other) => lockOf(other, name)?.limit ?? 0));
      const taken = [...ahead, asked].reduce((sum, other) => sum + (lockOf(other, name)?.permits ?? 0), 0);
      return ahead.every((other) => other.tokens.length > 0) && taken <= limit;
    }
    return ahead.length === 0;
  }

  private grant(asked: Asked): void {
    clearTimeout(asked.timer);
    asked.grants = asked.message.locks.map(({ name }) => {
      const same = (this.queues.get(name) ?? []).filter(
        (other) => other.tokens.length > 0 && isOwnedWith(other, asked) && modeOf(other, name) === modeOf(asked, name),
      );
      const [first] = same;
      const token = first === undefined ? ++this.token : tokenOf(first, name);
      return { name, fencingToken: String(token), holdCount: 1 + same.length };
    });
    asked.tokens = asked.grants.map((grant) => BigInt(grant.fencingToken));
    if (asked.message.maxHold !== undefined) {
      const longest = toMillis(asked.message.maxHold);
      const grace = Math.min(2000, Math.max(100, longest / 10)); // as the contract says
      asked.timer = setTimeout(() => {
        this.endHold(asked);
      }, longest + grace);
    }
  }

  private tellGranted(asked: Asked): void {
    const counted = asked.grants.map((grant) => ({ ...grant, waiters: asked.message.notifyContention ? this.waiters(grant.name) : 0 }));
    asked.isContentionTold = counted.some((grant) => grant.waiters > 0);
    this.tell(asked, { case: 'granted', value: { grants: counted, leaseId: asked.lease.id, validFor: toDuration(asked.lease.ttl) } });
  }

  private waiters(name: string): number {
    return (this.queues.get(name) ?? []).filter((asked) => asked.tokens.length === 0).length;
  }

  /** Tells holders that wish to know it that somebody waits: once, unless the grant has said so. */
  private tellContention(): void {
    const all = [...this.leases.values()].flatMap((lease) => [...lease.requests.values()]);
    for (const asked of all.filter((each) => each.message.notifyContention && each.tokens.length > 0 && !each.isContentionTold)) {
      const name = asked.message.locks.map((lock) => lock.name).find((each) => this.waiters(each) > 0);
      if (name !== undefined) {
        asked.isContentionTold = true;
        this.tell(asked, { case: 'contended', value: { name, waiters: this.waiters(name) } });
      }
    }
  }

  /** Takes what is over its longest hold away, with the levels that its owner added later. */
  private endHold(asked: Asked): void {
    const held = [...asked.lease.requests.values()];
    for (const level of held.slice(held.indexOf(asked))) {
      if (level === asked || (isOwnedWith(level, asked) && level.tokens.some((token) => asked.tokens.includes(token)))) {
        this.end(level, { case: 'lost', value: { reason: LossReason.MAX_HOLD, message: 'the longest hold is over' } });
      }
    }
  }

  private end(asked: Asked, event: EventInit): void {
    this.tell(asked, event);
    this.drop(asked);
    this.decide();
  }

  private drop(asked: Asked): void {
    clearTimeout(asked.timer);
    asked.lease.requests.delete(asked.message.requestId);
    for (const { name } of asked.message.locks) {
      const left = (this.queues.get(name) ?? []).filter((other) => other !== asked);
      if (left.length === 0) {
        this.queues.delete(name);
      } else {
        this.queues.set(name, left);
      }
    }
  }

  // Words.

  private tellHolders(event: EventInit): void {
    for (const lease of this.leases.values()) {
      for (const asked of lease.requests.values()) {
        if (asked.tokens.length > 0) {
          this.tell(asked, event);
        }
      }
    }
  }

  private tell(asked: Asked, event: EventInit): void {
    const said = create(AcquireResponseSchema, { requestId: asked.message.requestId, sequence: ++this.sequence, epoch: 1n, event });
    if (event.case === 'queued' || event.case === 'granted') {
      asked.last = said;
    }
    this.say(asked.lease, { case: 'event', value: said });
  }

  private repeat(asked: Asked): void {
    if (asked.last !== undefined) {
      this.say(asked.lease, { case: 'event', value: asked.last });
    }
  }

  private say(lease: Lease, response: ResponseInit): void {
    if (!this.frozen) {
      lease.stream?.write(create(SessionResponseSchema, { epoch: 1n, response }));
    }
  }

  private state(name: string): MessageInitShape<typeof LockStateSchema> & Pick<LockState, 'name'> {
    const queue = this.queues.get(name) ?? [];
    const contender = (asked: Asked): MessageInitShape<typeof ContenderSchema> => ({
      holder: asked.message.holder,
      owner: asked.message.owner,
      requestId: asked.message.requestId,
      leaseTag: asked.lease.id.slice(0, 16),
      mode: modeOf(asked, name),
      permits: lockOf(asked, name)?.permits ?? 0,
      metadata: asked.message.metadata,
      fencingToken: String(tokenOf(asked, name)),
    });
    const waiting = queue.filter((asked) => asked.tokens.length === 0);
    const holders = queue.filter((asked) => asked.tokens.length > 0).map(contender);
    return { name, holders, queueLength: waiting.length, queue: waiting.map(contender) };
  }
}
