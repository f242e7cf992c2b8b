import { create, fromBinary, toBinary, type DescMessage, type DescMethodUnary, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import type { Client as Connection, ClientReadableStream } from '@grpc/grpc-js';
import { ATTEMPT, finalOf, retryAfterOf } from './caller.js';
import { toContender, toLockInfo, type Contender, type LockInfo, type WatchEvent } from './events.js';
import { enumName, toDuration } from './messages.js';
import { checkName, within } from './requests.js';
import { Way, type Place, type Router } from './router.js';
import { backoff, now, pause, unlessAborted } from './timers.js';
import { callMetadata, connect } from './transport.js';
import { LockService } from './gen/lockkeeper/v1/lock_service_pb.js';
import { ChangeCauseSchema, WatchRequestSchema, WatchResponseSchema, type WatchResponse } from './gen/lockkeeper/v1/watch_pb.js';

const { getLock, listLocks, checkToken, requestRelease, configureLock } = LockService.method;
const WATCH = `/${LockService.typeName}/${LockService.method.watch.name}`;

interface Named {
  readonly name: string;
}

/** What a prefix is about: locks of one namespace, or, where it has no `/` in it, whatever the servers have that the client was given. */
function belowOf(prefix: string): Named[] {
  return prefix.indexOf('/') > 0 ? [{ name: prefix }] : [];
}

/** Calls that are answered once, and watches: at whichever server answers, of the shard that serves the namespace. */
export class Calls {
  constructor(private readonly router: Router) {}

  async getLock(name: string): Promise<LockInfo> {
    checkName(name);
    return toLockInfo((await this.call(getLock, [{ name }], name, { name })).lock);
  }

  async *listLocks(prefix: string): AsyncGenerator<LockInfo, void, undefined> {
    let pageToken = '';
    do {
      const page = await this.call(listLocks, belowOf(prefix), prefix, { prefix, pageToken });
      yield* page.locks.map(toLockInfo);
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
  }

  async checkToken(name: string, token: bigint): Promise<boolean> {
    checkName(name);
    return (await this.call(checkToken, [{ name }], name, { name, fencingToken: String(token) })).current;
  }

  async requestRelease(name: string, reason: string, deadline: number | undefined, requester: string): Promise<Contender[]> {
    checkName(name);
    within('deadline', deadline ?? 0, 0, 604_800_000);
    const request = { name, reason, requester, ...(deadline === undefined ? {} : { deadline: toDuration(deadline) }) };
    return (await this.call(requestRelease, [{ name }], name, request)).holders.map(toContender);
  }

  async configureLock(name: string, limit: number): Promise<number> {
    checkName(name);
    within('limit', limit, 0, 1_000_000);
    return (await this.call(configureLock, [{ name }], name, { name, limit })).previousLimit;
  }

  async *watch(what: readonly string[] | { readonly prefix: string }, signal?: AbortSignal): AsyncGenerator<WatchEvent, void, undefined> {
    const request = create(WatchRequestSchema, 'prefix' in what ? { prefix: what.prefix } : { names: [...what] });
    request.names.forEach(checkName);
    if (!('prefix' in what)) {
      within('names', request.names.length, 1, 256);
    }
    const asked = 'prefix' in what ? belowOf(what.prefix) : request.names.map((name) => ({ name }));
    const { closedSignal, settings } = this.router;
    const { transport } = settings;
    const over = signal === undefined ? closedSignal : AbortSignal.any([signal, closedSignal]);
    const way = new Way(this.router, asked, Infinity, 0, over);
    let at: Place | undefined;
    let begun = false;
    for (let failures = 0; ; failures++) {
      const place = this.router.placeOf(asked);
      if (place !== at) {
        request.startRevision = '0'; // that of one shard means nothing to another
        at = place;
      }
      let least = 0;
      let connection: Connection | undefined;
      let stream: ClientReadableStream<WatchResponse> | undefined;
      const stop = (): void => {
        stream?.cancel();
      };
      over.addEventListener('abort', stop);
      try {
        over.throwIfAborted();
        const server = await unlessAborted(place.callServers.next(), ATTEMPT, over);
        connection = await connect(transport, server);
        const metadata = await unlessAborted(callMetadata(transport, server), ATTEMPT, over);
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
          request.startRevision = message.revision;
          const event = toEvent(message);
          if (event !== undefined) {
            yield event;
          }
        }
      } catch (error) {
        over.throwIfAborted();
        const final = finalOf('watch', error);
        if (final !== undefined) {
          await way.onward(final, place);
        }
        least = retryAfterOf(error);
      } finally {
        over.removeEventListener('abort', stop);
        stream?.cancel();
        connection?.close();
      }
      await pause(Math.max(least, backoff(failures)), over);
    }
  }

  /** Asks the shard that serves what is asked about, within the request timeout. */
  private async call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    asked: readonly Named[],
    about: string,
    init: MessageInitShape<I>,
  ): Promise<MessageShape<O>> {
    const giveUp = now() + this.router.settings.requestTimeout;
    for (let way: Way | undefined; ;) {
      const place = this.router.placeOf(asked);
      try {
        return await place.caller.call(method, about, init, giveUp);
      } catch (error) {
        way ??= new Way(this.router, asked, giveUp, 0);
        if (!(await way.onward(error, place))) {
          throw error;
        }
      }
    }
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
