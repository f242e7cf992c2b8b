import { create, fromBinary, toBinary, type DescMessage, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { status as Code, type Client as Connection, type ClientReadableStream, type Metadata, type ServiceError } from '@grpc/grpc-js';
import { ClosedError, RequestRefusedError, ServerUnavailableError } from './errors.js';
import { toContender, toLockInfo, type Contender, type LockInfo, type WatchEvent } from './events.js';
import { limited } from './lease.js';
import { callError, detailsOf, enumName, toDuration } from './messages.js';
import { checkName, within } from './requests.js';
import { backoff, now } from './timers.js';
import { callMetadata, connect, TokenRefusedError, type Servers, type Transport } from './transport.js';
import {
  CheckTokenRequestSchema,
  CheckTokenResponseSchema,
  ConfigureLockRequestSchema,
  ConfigureLockResponseSchema,
  GetLockRequestSchema,
  GetLockResponseSchema,
  ListLocksRequestSchema,
  ListLocksResponseSchema,
  RequestReleaseRequestSchema,
  RequestReleaseResponseSchema,
} from './gen/lockkeeper/v1/lock_service_pb.js';
import { ChangeCauseSchema, WatchRequestSchema, WatchResponseSchema, type WatchResponse } from './gen/lockkeeper/v1/watch_pb.js';

const SERVICE = '/lockkeeper.v1.LockService/';
const ATTEMPT = 5000; // for one server, at most

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && typeof error.code === 'number';
}

/** Whether another server would answer the same. */
function isFinal(error: unknown): error is ServiceError {
  const passing: readonly number[] = [Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.CANCELLED, Code.UNKNOWN];
  return isServiceError(error) && !passing.includes(error.code);
}

/** Calls that are answered once, and watches: over a connection of their own, at whichever server answers. */
export class Calls {
  private connection: Connection | undefined;
  private address: Awaited<ReturnType<Servers['next']>> | undefined;
  private closed = false;

  constructor(
    private readonly transport: Transport,
    private readonly servers: Servers,
    private readonly timeout: number,
  ) {}

  async getLock(name: string): Promise<LockInfo> {
    checkName(name);
    const answer = await this.call('GetLock', name, GetLockRequestSchema, { name }, GetLockResponseSchema);
    return toLockInfo(answer.lock);
  }

  async *listLocks(prefix: string): AsyncGenerator<LockInfo, void, undefined> {
    let pageToken = '';
    do {
      const page = await this.call('ListLocks', prefix, ListLocksRequestSchema, { prefix, pageToken }, ListLocksResponseSchema);
      yield* page.locks.map(toLockInfo);
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
  }

  async checkToken(name: string, token: bigint): Promise<boolean> {
    checkName(name);
    const request = { name, fencingToken: String(token) };
    return (await this.call('CheckToken', name, CheckTokenRequestSchema, request, CheckTokenResponseSchema)).current;
  }

  async requestRelease(name: string, reason: string, deadline: number | undefined, requester: string): Promise<Contender[]> {
    checkName(name);
    within('deadline', deadline ?? 0, 0, 604_800_000);
    const request = { name, reason, requester, ...(deadline === undefined ? {} : { deadline: toDuration(deadline) }) };
    return (await this.call('RequestRelease', name, RequestReleaseRequestSchema, request, RequestReleaseResponseSchema)).holders.map(toContender);
  }

  async configureLock(name: string, limit: number): Promise<number> {
    checkName(name);
    within('limit', limit, 0, 1_000_000);
    return (await this.call('ConfigureLock', name, ConfigureLockRequestSchema, { name, limit }, ConfigureLockResponseSchema)).previousLimit;
  }

  async *watch(what: readonly string[] | { readonly prefix: string }, signal?: AbortSignal): AsyncGenerator<WatchEvent, void, undefined> {
    const request = create(WatchRequestSchema, 'prefix' in what ? { prefix: what.prefix } : { names: [...what] });
    request.names.forEach(checkName);
    if (!('prefix' in what)) {
      within('names', request.names.length, 1, 256);
    }
    let begun = false;
    for (let failures = 0; ; failures++) {
      let pause = 0;
      let stream: ClientReadableStream<WatchResponse> | undefined;
      const stop = (): void => {
        stream?.cancel();
      };
      signal?.addEventListener('abort', stop);
      try {
        signal?.throwIfAborted();
        const [connection, metadata] = await this.connected();
        stream = connection.makeServerStreamRequest(
          `${SERVICE}Watch`,
          (message: typeof request) => Buffer.from(toBinary(WatchRequestSchema, message)),
          (bytes) => fromBinary(WatchResponseSchema, bytes),
          request,
          metadata,
        );
        if (begun && request.startRevision === '0') {
          yield { kind: 'gap', reason: 'the watch begins anew' };
        }
        for await (const message of stream as AsyncIterable<WatchResponse>) {
          failures = 0;
          begun = true;
          request.startRevision = message.revision;
          const event = toEvent(message);
          if (event !== undefined) {
            yield event;
          }
        }
      } catch (error) {
        signal?.throwIfAborted();
        this.throwIfFinal('watch', error);
        pause = (isServiceError(error) ? detailsOf(error.metadata).retryAfter : undefined) ?? 0;
      } finally {
        signal?.removeEventListener('abort', stop);
        stream?.cancel();
      }
      this.disconnect();
      await new Promise((done) => setTimeout(done, Math.max(pause, backoff(failures))));
    }
  }

  private throwIfFinal(what: string, error: unknown): void {
    if (error instanceof TokenRefusedError) {
      throw new RequestRefusedError(`${what}: ${error.message}`, 'UNAUTHENTICATED', Code.UNAUTHENTICATED);
    }
    if (error instanceof ClosedError) {
      throw error;
    }
    if (isFinal(error)) {
      throw callError(what, error);
    }
  }

  /** Asks servers in turn until one answers, or the request timeout is over. */
  private async call<I extends DescMessage, O extends DescMessage>(
    method: string,
    about: string,
    input: I,
    init: MessageInitShape<I>,
    output: O,
  ): Promise<MessageShape<O>> {
    const what = `${method} ${JSON.stringify(about)}`;
    const giveUp = now() + this.timeout;
    for (let failures = 0; ; failures++) {
      try {
        const [connection, metadata] = await limited(this.connected(), Math.max(1, giveUp - now()));
        return await new Promise<MessageShape<O>>((done, fail) => {
          connection.makeUnaryRequest(
            SERVICE + method,
            (message: MessageShape<I>) => Buffer.from(toBinary(input, message)),
            (bytes) => fromBinary(output, bytes),
            create(input, init),
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
        });
      } catch (error) {
        this.throwIfFinal(what, error);
        this.disconnect();
        const asked = (isServiceError(error) ? detailsOf(error.metadata).retryAfter : undefined) ?? 0;
        const pause = Math.max(asked, backoff(failures));
        if (now() + pause >= giveUp) {
          throw isServiceError(error) ? callError(what, error) : new ServerUnavailableError(`${what}: no server could be reached: ${String(error)}`);
        }
        await new Promise((done) => setTimeout(done, pause));
      }
    }
  }

  private async connected(): Promise<[Connection, Metadata]> {
    if (this.connection === undefined || this.address === undefined) {
      const server = await this.servers.next();
      const made = await connect(this.transport, server);
      if (this.closed) {
        made.close();
        throw new ClosedError('the client is closed');
      }
      this.disconnect();
      this.connection = made;
      this.address = server;
    }
    const { connection, address } = this;
    return [connection, await callMetadata(this.transport, address)];
  }

  private disconnect(): void {
    this.connection?.close();
    this.connection = undefined;
  }

  close(): void {
    this.closed = true;
    this.disconnect();
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
