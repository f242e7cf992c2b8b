import { create, fromBinary, toBinary, type DescMessage, type DescMethodUnary, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { status as Code, type Client as Connection, type ServiceError } from '@grpc/grpc-js';
import { RequestRefusedError, ServerUnavailableError, type LockkeeperError } from './errors.js';
import { callError, detailsOf, wordsOf } from './messages.js';
import { backoff, limited, now, pause } from './timers.js';
import { callMetadata, connect, TokenRefusedError, type Server, type Servers, type Transport } from './transport.js';

/** For how long one server is asked at most, in milliseconds. */
export const ATTEMPT = 5000;

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && typeof error.code === 'number';
}

/** Whether another server would answer the same. */
function isFinal(error: unknown): error is ServiceError {
  const passing: readonly number[] = [Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.CANCELLED, Code.UNKNOWN];
  return isServiceError(error) && !passing.includes(error.code);
}

/** What an error means to whoever has made a call; undefined: another server may answer. */
export function finalOf(what: string, error: unknown): LockkeeperError | undefined {
  if (error instanceof TokenRefusedError) {
    return new RequestRefusedError(`${what}: ${error.message}`, 'UNAUTHENTICATED', Code.UNAUTHENTICATED);
  }
  return isFinal(error) ? callError(what, error) : undefined;
}

/** For how long a server that refuses wants to be left alone, in milliseconds. */
export function retryAfterOf(error: unknown): number {
  return (isServiceError(error) ? detailsOf(error.metadata).retryAfter : undefined) ?? 0;
}

/** A connection that calls share; after a failure it is closed by the last of them, so that no other is cut off. */
interface Shared {
  readonly server: Server;
  readonly connection: Connection;
  users: number;
}

/** Calls that are answered once, by whichever server of one shard answers: over a connection of their own. */
export class Caller {
  private shared: Shared | undefined;
  private underWay = 0;

  /** @param closed aborted when the client is closed: all calls end */
  constructor(
    private readonly transport: Transport,
    private readonly servers: Servers,
    private readonly closed: AbortSignal,
  ) {}

  get isIdle(): boolean {
    return this.underWay === 0;
  }

  /**
   * Asks servers in turn until one answers, or the time is over.
   *
   * @throws WrongShardError, RequestRefusedError, ServerUnavailableError, or what the signal is aborted with
   */
  async call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    about: string,
    init: MessageInitShape<I>,
    giveUp: number,
  ): Promise<MessageShape<O>> {
    this.underWay++;
    try {
      return await this.callInTurn(method, about, init, giveUp);
    } finally {
      this.underWay--;
    }
  }

  private async callInTurn<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    about: string,
    init: MessageInitShape<I>,
    giveUp: number,
  ): Promise<MessageShape<O>> {
    const what = `${method.name} ${JSON.stringify(about)}`;
    for (let failures = 0; ; failures++) {
      try {
        return await this.attempt(method, init, giveUp);
      } catch (error) {
        this.closed.throwIfAborted();
        const final = finalOf(what, error);
        if (final !== undefined) {
          throw final;
        }
        const length = Math.max(retryAfterOf(error), backoff(failures));
        if (now() + length >= giveUp) {
          throw isServiceError(error)
            ? callError(what, error)
            : new ServerUnavailableError(`${what}: no server could be reached: ${wordsOf(error)}`, { cause: error });
        }
        await pause(length, this.closed);
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
      this.closed.throwIfAborted();
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
        this.closed.addEventListener('abort', stop);
      });
    } catch (error) {
      if (isServiceError(error) && !isFinal(error) && this.shared === shared) {
        this.shared = undefined;
      }
      throw error;
    } finally {
      this.closed.removeEventListener('abort', stop);
      shared.users--;
      if (shared.users === 0 && this.shared !== shared) {
        shared.connection.close();
      }
    }
  }

  private async connected(limit: number): Promise<Shared> {
    this.closed.throwIfAborted();
    if (this.shared !== undefined) {
      return this.shared;
    }
    const server = await limited(this.servers.next(), limit);
    const connection = await connect(this.transport, server);
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- somebody else may have been quicker
    if (this.closed.aborted || this.shared !== undefined) {
      connection.close();
      return await this.connected(limit);
    }
    this.shared = { server, connection, users: 0 };
    return this.shared;
  }

  /** Lets go of the servers. */
  close(): void {
    this.shared?.connection.close();
    this.shared = undefined;
  }
}
