import { setMaxListeners } from 'node:events';
import { create, fromBinary, toBinary, type DescMessage, type DescMethodUnary, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { status as Code, type Client as Connection, type ClientReadableStream, type ServiceError } from '@grpc/grpc-js';
import { ClosedError, RequestRefusedError, ServerUnavailableError } from './errors.js';
import { toContender, toLockInfo, type Contender, type LockInfo, type WatchEvent } from './events.js';
import { callError, detailsOf, enumName, toDuration, wordsOf } from './messages.js';
import { checkName, within } from './requests.js';
import { backoff, limited, now, pause } from './timers.js';
import { callMetadata, connect, TokenRefusedError, type Server, type Servers, type Transport } from './transport.js';
import { LeaseService } from './gen/lockkeeper/v1/lease_service_pb.js';
import { LockService } from './gen/lockkeeper/v1/lock_service_pb.js';
import { ChangeCauseSchema, WatchRequestSchema, WatchResponseSchema, type WatchResponse } from './gen/lockkeeper/v1/watch_pb.js';

const { getLock, listLocks, checkToken, requestRelease, configureLock } = LockService.method;
const { closeLease } = LeaseService.method;
const WATCH = `/${LockService.typeName}/${LockService.method.watch.name}`;
const ATTEMPT = 5000; // for one server, at most
const CLOSING = 60_000; // for closing a lease that was given up
const MAX_CLOSINGS = 8;
const GIVEN_BACK: readonly string[] = ['CLOSED', 'SUPERSEDED', 'FAILED_PRECONDITION']; // a lease that was closed, or is another client's

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && typeof error.code === 'number';
}

/** Whether another server would answer the same. */
function isFinal(error: unknown): error is ServiceError {
  const passing: readonly number[] = [Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.CANCELLED, Code.UNKNOWN];
  return isServiceError(error) && !passing.includes(error.code);
}

/** Throws what an error means to the caller, unless another server may answer. */
function throwIfFinal(what: string, error: unknown): void {
  if (error instanceof TokenRefusedError) {
    throw new RequestRefusedError(`${what}: ${error.message}`, 'UNAUTHENTICATED', Code.UNAUTHENTICATED);
  }
  if (isFinal(error)) {
    throw callError(what, error);
  }
}

/** For how long a server that refuses wants to be left alone, in milliseconds. */
function retryAfterOf(error: unknown): number {
  return (isServiceError(error) ? detailsOf(error.metadata).retryAfter : undefined) ?? 0;
}

/** Waits for the work, at most as long as one attempt may take; fails with the signal's reason if it is aborted first. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined); // after an abort its failure is of no interest
  signal.throwIfAborted();
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, refuse) => {
    stop = () => {
      refuse(signal.reason as Error);
    };
    signal.addEventListener('abort', stop);
  });
  try {
    return await limited(Promise.race([work, aborted]), ATTEMPT);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** A connection that calls share; after a failure it is closed by the last of them, so that no other is cut off. */
interface Shared {
  readonly server: Server;
  readonly connection: Connection;
  users: number;
}

/** Calls that are answered once, and watches: over connections of their own, at whichever server answers. */
export class Calls {
  private shared: Shared | undefined;
  private readonly closed = new AbortController();

  constructor(
    private readonly transport: Transport,
    private readonly servers: Servers,
    private readonly timeout: number,
  ) {
    setMaxListeners(0, this.closed.signal); // one for each call under way
  }

  async getLock(name: string): Promise<LockInfo> {
    checkName(name);
    return toLockInfo((await this.call(getLock, name, { name })).lock);
  }

  async *listLocks(prefix: string): AsyncGenerator<LockInfo, void, undefined> {
    let pageToken = '';
    do {
      const page = await this.call(listLocks, prefix, { prefix, pageToken });
      yield* page.locks.map(toLockInfo);
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
  }

  async checkToken(name: string, token: bigint): Promise<boolean> {
    checkName(name);
    return (await this.call(checkToken, name, { name, fencingToken: String(token) })).current;
  }

  async requestRelease(name: string, reason: string, deadline: number | undefined, requester: string): Promise<Contender[]> {
    checkName(name);
    within('deadline', deadline ?? 0, 0, 604_800_000);
    const request = { name, reason, requester, ...(deadline === undefined ? {} : { deadline: toDuration(deadline) }) };
    return (await this.call(requestRelease, name, request)).holders.map(toContender);
  }

  async configureLock(name: string, limit: number): Promise<number> {
    checkName(name);
    within('limit', limit, 0, 1_000_000);
    return (await this.call(configureLock, name, { name, limit })).previousLimit;
  }

  async closeLease(leaseId: string): Promise<void> {
    await this.call(closeLease, '', { leaseId });
  }

  async *watch(what: readonly string[] | { readonly prefix: string }, signal?: AbortSignal): AsyncGenerator<WatchEvent, void, undefined> {
    const request = create(WatchRequestSchema, 'prefix' in what ? { prefix: what.prefix } : { names: [...what] });
    request.names.forEach(checkName);
    if (!('prefix' in what)) {
      within('names', request.names.length, 1, 256);
    }
    const over = signal === undefined ? this.closed.signal : AbortSignal.any([signal, this.closed.signal]);
    let begun = false;
    for (let failures = 0; ; failures++) {
      let least = 0;
      let connection: Connection | undefined;
      let stream: ClientReadableStream<WatchResponse> | undefined;
      const stop = (): void => {
        stream?.cancel();
      };
      over.addEventListener('abort', stop);
      try {
        over.throwIfAborted();
        const server = await unlessAborted(this.servers.next(), over);
        connection = await connect(this.transport, server);
        const metadata = await unlessAborted(callMetadata(this.transport, server), over);
        if (begun && request.startRevision === '0') {
          yield { kind: 'gap', reason: 'the watch begins anew' };
        }
        over.throwIfAborted();
        stream = connection.makeServerStreamRequest(
          WATCH,
          (message: typeof request) => Buffer.from(toBinary(WatchRequestSchema, message)),
          (bytes) => fromBinary(WatchResponseSchema, bytes),
          request,
          metadata,
        );
        for await (const message of stream as AsyncIterable<WatchResponse>) {
          failures = 0;
          begun = true;
          if (message.event.case !== 'heartbeat') {
            request.startRevision = message.revision;
          }
          const event = toEvent(message);
          if (event !== undefined) {
            yield event;
          }
        }
      } catch (error) {
        over.throwIfAborted();
        throwIfFinal('watch', error);
        least = retryAfterOf(error);
      } finally {
        over.removeEventListener('abort', stop);
        stream?.cancel();
        connection?.close();
      }
      await pause(Math.max(least, backoff(failures)), over);
    }
  }

  /** Asks servers in turn until one answers, or the request timeout is over. */
  private async call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    about: string,
    init: MessageInitShape<I>,
  ): Promise<MessageShape<O>> {
    const what = `${method.name} ${JSON.stringify(about)}`;
    const giveUp = now() + this.timeout;
    for (let failures = 0; ; failures++) {
      try {
        return await this.attempt(method, init, giveUp);
      } catch (error) {
        this.closed.signal.throwIfAborted();
        throwIfFinal(what, error);
        const length = Math.max(retryAfterOf(error), backoff(failures));
        if (now() + length >= giveUp) {
          throw isServiceError(error)
            ? callError(what, error)
            : new ServerUnavailableError(`${what}: no server could be reached: ${wordsOf(error)}`, { cause: error });
        }
        await pause(length, this.closed.signal);
      }
    }
  }

  /** Asks one server. Others are asked after one that does not answer. */
  private async attempt<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    init: MessageInitShape<I>,
    giveUp: number,
  ): Promise<MessageShape<O>> {
    const shared = await this.connected(Math.max(1, giveUp - now()));
    shared.users++; // nothing has run since
    let stop: () => void = () => undefined;
    try {
      const metadata = await limited(callMetadata(this.transport, shared.server), Math.max(1, giveUp - now()));
      this.closed.signal.throwIfAborted();
      return await new Promise<MessageShape<O>>((done, fail) => {
        const call = shared.connection.makeUnaryRequest(
          `/${method.parent.typeName}/${method.name}`,
          (message: MessageShape<I>) => Buffer.from(toBinary(method.input, message)),
          (bytes) => fromBinary(method.output, bytes),
          create(method.input, init),
          metadata,
          { deadline: Date.now() + Math.max(1, Math.min(ATTEMPT, giveUp - now())) },
          (error, answer) => {
            if (error === null && answer !== undefined) {
              done(answer);
            } else {
              fail(error ?? new Error('no answer'));
            }
          },
        );
        stop = () => {
          call.cancel();
        };
        this.closed.signal.addEventListener('abort', stop);
      });
    } catch (error) {
      if (isServiceError(error) && !isFinal(error) && this.shared === shared) {
        this.shared = undefined;
      }
      throw error;
    } finally {
      this.closed.signal.removeEventListener('abort', stop);
      shared.users--;
      if (shared.users === 0 && this.shared !== shared) {
        shared.connection.close();
      }
    }
  }

  private async connected(limit: number): Promise<Shared> {
    this.closed.signal.throwIfAborted();
    if (this.shared !== undefined) {
      return this.shared;
    }
    const server = await limited(this.servers.next(), limit);
    const connection = await connect(this.transport, server);
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- somebody else may have been quicker
    if (this.closed.signal.aborted || this.shared !== undefined) {
      connection.close();
      return await this.connected(limit);
    }
    this.shared = { server, connection, users: 0 };
    return this.shared;
  }

  /** Ends all calls and watches. */
  close(): void {
    this.closed.abort(new ClosedError('the client is closed'));
    this.shared?.connection.close();
    this.shared = undefined;
  }
}

/** Closes leases that were given up, over connections of their own: their coordinators would keep the locks until the leases expire. */
export class Closings {
  private readonly running = new Map<Promise<void>, Calls>();

  constructor(
    private readonly transport: Transport,
    private readonly servers: () => Servers,
  ) {}

  /** Closes a lease that is over, unless none was opened. Where no server answers in time, or too many are under way, it ends by its TTL. */
  begin(leaseId: string, reason: string): void {
    if (leaseId !== '' && !GIVEN_BACK.includes(reason) && this.running.size < MAX_CLOSINGS) {
      const calls = new Calls(this.transport, this.servers(), CLOSING);
      const closing = calls
        .closeLease(leaseId)
        .catch(() => undefined)
        .finally(() => {
          calls.close();
          this.running.delete(closing);
        });
      this.running.set(closing, calls);
    }
  }

  /** Waits for those that are under way, for so long at most, and ends the others. */
  async wait(limit: number): Promise<void> {
    await limited(Promise.all(this.running.keys()), limit).catch(() => undefined);
    this.running.forEach((calls) => {
      calls.close();
    });
  }
}

function toEvent(message: WatchResponse): WatchEvent | undefined {
  const { event } = message;
  switch (event.case) {
    case 'snapshot':
      return { kind: 'snapshot', lock: toLockInfo(event.value) };
    case 'snapshotEnd':
      return { kind: 'snapshotEnd' };
    case 'gap':
      return { kind: 'gap', reason: event.value.reason };
    case 'change': {
      const { name, cause, contender, holders, queueLength, coalesced } = event.value;
      return {
        kind: 'change',
        change: {
          name,
          cause: enumName(ChangeCauseSchema, cause),
          contender: contender === undefined ? undefined : toContender(contender),
          holders: holders.map(toContender),
          queueLength,
          coalesced,
        },
      };
    }
    default:
      return undefined; // of a later version
  }
}
