import { randomBytes } from 'node:crypto';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { status as Code, type Client, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js';
import { Acquisition, Deferred, MAX_REQUESTS, type Hold } from './acquisition.js';
import { ClosedError, LeaseLostError, LockLostError, LockkeeperError, NotAcquiredError, RequestRefusedError, ServerUnavailableError } from './errors.js';
import { toContender } from './events.js';
import { endOf, enumName, messagesOf, openingOf, refusal, toMillis, wordsOf, type End } from './messages.js';
import { safely, type Observer } from './observer.js';
import { Questions, type Sent } from './questions.js';
import { backoff, limited, now, Timers } from './timers.js';
import { authority, callMetadata, connect, TokenRefusedError, type Server, type Servers, type Transport } from './transport.js';
import { ReleaseOutcome, ReleaseResponseSchema, type AcquireResponse, type Granted, type ReleaseResponse } from './gen/lockkeeper/v1/acquisition_pb.js';
import {
  GoingAwayReason,
  SessionRequestSchema,
  SessionResponseSchema,
  type Refused,
  type SessionOpened,
  type SessionKeptAlive,
  type SessionRequest,
  type SessionResponse,
} from './gen/lockkeeper/v1/session_pb.js';
import { ErrorReasonSchema, LeaseEndReasonSchema, LossReasonSchema, NotAcquiredReasonSchema } from './gen/lockkeeper/v1/types_pb.js';
import type { Duration } from '@bufbuild/protobuf/wkt';

const METHOD = '/lockkeeper.v1.LockService/Session';
const OPENING = 3000; // for connecting and for the answer to an open, at most
const CLOSING = 5000; // for the answer to a close
const ANSWERING = 5000; // for a server's word after a wait limit
const SAYS_MORE = 1000; // from the event of a release to its answer
const LASTED = 2000; // a stream of that length was a good one: the backoff begins anew

type Session = ClientDuplexStream<SessionRequest, SessionResponse>;

/** What all leases of a client have in common. Times are milliseconds. */
export interface LeaseSettings {
  readonly transport: Transport;
  readonly ttl: number | undefined;
  readonly holder: string;
  readonly requestTimeout: number;
  readonly observer: Observer;
  readonly onOver: (id: string, reason: string) => void;
}

/** Lives once, over one Session stream at a time. When it is over, every request has heard its end. */
export class Lease {
  tag = '';
  isOver = false;
  deadline = Infinity;
  /** All that wait, hold, or are being released. */
  readonly acquisitions = new Map<string, Acquisition>();
  #id = ''; // with the secret, not for a console
  readonly #secret = randomBytes(16).toString('hex');
  private epoch = 0n;
  private interval = 1000;
  private lastSent = 0;
  private nonce = 0n;
  private unanswered: { nonce: bigint; at: number }[] = [];
  private readonly timers = new Timers();
  private outbox: SessionRequest[] = [];
  private batches = false;
  private session: Session | undefined;
  private isOpen = false;
  private wasOpen = false;
  private started = false;
  private closing = false;
  private attempts = 0;
  private leave: (end: End) => void = () => undefined;
  private failure: { words: string; cause: unknown } | undefined; // of the last attempt to reach a server
  private overBy: { reason: string; error: LockkeeperError | undefined } = { reason: '', error: undefined };
  private readonly over = new Deferred<undefined>();
  private readonly stopped = new Deferred<undefined>();

  /** What is asked about locks that are held. */
  readonly questions: Questions;

  constructor(
    private readonly settings: LeaseSettings,
    private readonly servers: Servers,
  ) {
    this.questions = new Questions((request) => {
      this.send(request);
    }, settings.requestTimeout);
  }

  /** Whether the locks may be used now. It looks at the clock: timers may be late. */
  isValid(hold: Hold): boolean {
    return hold.state === 'held' && !this.closing && now() < hold.until(this.deadline);
  }

  /** Ends it if its deadline has passed. It looks at the clock, too. */
  checkDeadline(): void {
    if (now() >= this.deadline) {
      this.end('DEADLINE_PASSED');
    }
  }

  acquire(acquisition: Acquisition): void {
    if (this.isOver || this.closing) {
      acquisition.fail(this.failureOf(acquisition)); // who has waited in the client
      return;
    }
    this.acquisitions.set(acquisition.id, acquisition);
    if (!this.started) {
      this.started = true;
      void this.run();
    }
    this.ask(acquisition);
    if (!acquisition.asked) {
      this.timers.set(`unasked ${acquisition.id}`, this.settings.requestTimeout, () => {
        this.onUnreachable(acquisition);
      });
    }
    if (acquisition.giveUp !== Infinity) {
      this.timers.set(`give-up ${acquisition.id}`, acquisition.giveUp - now() + Math.min(ANSWERING, this.settings.requestTimeout), () => {
        this.onNobodyCounts(acquisition);
      });
    }
  }

  /** Releases locks, or withdraws the request. From now on they are not held, whatever becomes of the release. */
  release(acquisition: Acquisition): void {
    if (acquisition.state === 'releasing' || acquisition.state === 'ended') {
      return;
    }
    this.stopTimers(acquisition);
    if (acquisition.asked) {
      acquisition.state = 'releasing';
      this.ask(acquisition);
      acquisition.onReleasing();
    } else {
      this.fail(acquisition, new NotAcquiredError(`${String(acquisition.request)}: withdrawn`, 'WITHDRAWN'));
    }
  }

  /** Ends the lease with all that it holds; done when a server has confirmed it, within some seconds. */
  async close(): Promise<void> {
    if (!this.isOver) {
      this.closing = true;
      for (const held of [...this.acquisitions.values()].filter((each) => each.state === 'held')) {
        held.lose('LEASE_CLOSED'); // now, whenever the server hears of it
      }
      if (this.wasOpen) {
        this.send({ case: 'close', value: {} });
        await limited(this.over.promise, CLOSING).catch(() => undefined);
      }
      this.end('CLOSED');
    }
    if (this.started) {
      await this.stopped.promise;
    }
  }

  // One stream after the other.

  private async run(): Promise<void> {
    while (!this.isOver) {
      if (this.acquisitions.size === 0 && !this.wasOpen) {
        this.end('NOT_USED');
        break;
      }
      const end = await this.attempt();
      if ('over' in end) {
        this.end(end.over, end.error);
      } else if (!this.over.settled) {
        await limited(this.over.promise, Math.min(0x7fffffff, Math.max(end.pause, backoff(this.attempts++)))).catch(() => undefined);
      }
    }
    this.stopped.resolve(undefined);
  }

  private async attempt(): Promise<End> {
    if (now() >= this.deadline) {
      return { over: 'DEADLINE_PASSED' }; // its timer may be late
    }
    let client: Client | undefined;
    let server: Server | undefined;
    try {
      server = await this.unlessOver(this.servers.next());
      const metadata = await this.unlessOver(callMetadata(this.settings.transport, server));
      client = await connect(this.settings.transport, server);
      if (this.over.settled) {
        return { pause: 0 };
      }
      const session = client.makeBidiStreamRequest<SessionRequest, SessionResponse>(
        METHOD,
        (request) => Buffer.from(toBinary(SessionRequestSchema, request)),
        (bytes) => fromBinary(SessionResponseSchema, bytes),
        metadata,
      );
      return await this.live(session, server);
    } catch (error) {
      if (error instanceof TokenRefusedError && this.#id === '') {
        return { over: 'UNAUTHENTICATED', error: new RequestRefusedError(error.message, 'UNAUTHENTICATED', Code.UNAUTHENTICATED) };
      }
      this.failure = { words: wordsOf(error, server), cause: error };
      return { pause: 0 };
    } finally {
      client?.close();
    }
  }

  /** How long a step may take: half of what the lease has left leaves time for another server. */
  private patience(): number {
    return Math.min(OPENING, (this.deadline - now()) / 2);
  }

  private async unlessOver<T>(work: Promise<T>): Promise<T> {
    const over = this.over.promise.then((): never => {
      throw new ClosedError('the lease is over');
    });
    return await limited(Promise.race([work, over]), this.patience());
  }

  /** One stream from its open to its end. */
  private async live(session: Session, server: Server): Promise<End> {
    const began = now();
    const ended = new Promise<End>((resolve) => {
      this.leave = resolve;
      session.on('data', (response: SessionResponse) => {
        if (this.session === session) {
          this.hearOn(response);
        }
      });
      session.on('error', (error: ServiceError) => {
        this.failure = { words: wordsOf(error, server), cause: error };
        resolve(endOf(error, this.#id !== ''));
      });
      session.on('end', () => {
        resolve({ pause: 0 });
      });
    });
    this.session = session;
    this.outbox = [];
    this.batches = false;
    this.unanswered = [];
    this.lastSent = began; // before the message leaves
    session.write(openingOf(this.#id, this.#secret, this.settings));
    const opening = setTimeout(() => {
      if (!this.isOpen) {
        this.failure = { words: `${authority(server)} does not answer`, cause: undefined };
        this.leave({ pause: 0 });
      }
    }, this.patience());
    const end = await Promise.race([ended, this.over.promise.then((): End => ({ pause: 0 }))]);
    clearTimeout(opening);
    if (this.isOpen) {
      safely(() => this.settings.observer.streamLost?.(authority(server)));
      this.attempts = now() - began > LASTED ? 0 : this.attempts;
    }
    this.session = undefined;
    this.isOpen = false;
    this.timers.stop('keep-alive');
    this.timers.stop('silence');
    session.cancel();
    return end;
  }

  private end(reason: string, error?: LockkeeperError): void {
    if (this.isOver) {
      return;
    }
    this.isOver = true;
    this.overBy = { reason, error };
    for (const acquisition of this.acquisitions.values()) {
      if (acquisition.state === 'waiting') {
        acquisition.fail(this.failureOf(acquisition));
      } else {
        if (acquisition.state === 'held') {
          acquisition.lose(reason);
        }
        acquisition.finish(undefined);
      }
    }
    this.acquisitions.clear();
    this.questions.fail(new LockLostError(`the lease ended: ${reason}`, reason));
    this.timers.stopAll();
    this.settings.onOver(this.#id, reason);
    this.over.resolve(undefined);
  }

  /** What those hear who wait when the lease ends. */
  private failureOf({ request }: Acquisition): Error {
    const { reason, error } = this.overBy;
    return this.closing ? new ClosedError('the client was closed') : (error ?? new LeaseLostError(`${String(request)}: the lease ended: ${reason}`, reason));
  }

  // What a server says.

  private hearOn(response: SessionResponse): void {
    const end = this.hear(response);
    if (end !== undefined) {
      this.session = undefined; // nothing that comes after it is heard
      this.leave(end);
    }
  }

  private hear(response: SessionResponse): End | undefined {
    if (now() >= this.deadline) {
      return { over: 'DEADLINE_PASSED' }; // what comes later revives nothing
    }
    const said = response.response;
    if (said.case === 'goingAway') {
      return said.value.reason === GoingAwayReason.SUPERSEDED ? { over: 'SUPERSEDED' } : { pause: toMillis(said.value.resumeAfter) };
    }
    if (said.case === 'batch') {
      for (const each of said.value.responses) {
        const end = this.hear(each);
        if (end !== undefined) {
          return end;
        }
      }
      return undefined;
    }
    if (response.epoch < this.epoch) {
      return this.isOpen ? undefined : { pause: 0 };
    }
    this.epoch = response.epoch;
    if (said.case === 'leaseEnded') {
      return { over: enumName(LeaseEndReasonSchema, said.value.reason) };
    }
    if (said.case === 'opened') {
      this.onOpened(said.value);
      return undefined;
    }
    return this.isOpen ? this.handle(said) : { pause: 0 };
  }

  private handle(said: SessionResponse['response']): End | undefined {
    switch (said.case) {
      case 'keptAlive':
        this.onKeptAlive(said.value);
        return undefined;
      case 'event':
        this.onEvent(said.value);
        return undefined;
      case 'released': {
        const acquisition = this.acquisitions.get(said.value.requestId);
        if (acquisition !== undefined) {
          this.finish(acquisition, 'RELEASED', said.value.result);
        }
        return undefined;
      }
      case 'refused':
        return this.onRefused(said.value);
      case 'releaseAnswered':
        this.questions.onAnswer('answerRelease', said.value.requestId);
        return undefined;
      case 'metadataUpdated':
        this.questions.onAnswer('updateMetadata', said.value.requestId);
        return undefined;
      default:
        return undefined; // of a later version
    }
  }

  private onOpened(opened: SessionOpened): void {
    if (this.isOpen) {
      return;
    }
    const resumed = this.wasOpen;
    if (!resumed) {
      this.#id = opened.leaseId;
      this.tag = opened.leaseTag;
      this.deadline = 0;
    }
    this.isOpen = this.wasOpen = true;
    this.batches = opened.batches;
    this.extend(this.lastSent, opened.validFor, opened.keepAliveInterval);
    safely(() => this.settings.observer.streamOpened?.(opened.coordinatorId, resumed));
    // All holds are repeated before anything is released.
    const all = [...this.acquisitions.values()];
    for (const acquisition of all.filter((each) => each.state !== 'releasing').concat(all.filter((each) => each.state === 'releasing'))) {
      this.ask(acquisition);
    }
    this.questions.repeat();
    if (this.closing) {
      this.send({ case: 'close', value: {} });
    }
  }

  private onKeptAlive(kept: SessionKeptAlive): void {
    const sent = this.unanswered.find((each) => each.nonce === kept.nonce);
    if (sent !== undefined) {
      // It does for those before it, so a late answer to one of them counts for nothing.
      this.unanswered = this.unanswered.filter((each) => each.nonce > kept.nonce);
      this.extend(sent.at, kept.validFor, kept.keepAliveInterval);
      this.watchSilence();
    }
  }

  /** Moves the deadline on: less two percent for clocks of unequal rate, and 50 ms. */
  private extend(sent: number, validFor: Duration | undefined, interval: Duration | undefined): void {
    this.deadline = Math.max(this.deadline, sent + toMillis(validFor) * 0.98 - 50);
    this.interval = Math.max(100, toMillis(interval));
    this.watchDeadline();
    this.timers.set('keep-alive', this.lastSent + this.interval - now(), () => {
      this.keepAlive();
    });
  }

  private watchDeadline(): void {
    this.timers.set('deadline', this.deadline - now(), () => {
      this.checkDeadline();
      if (!this.isOver) {
        this.watchDeadline(); // timers may be early
      }
    });
  }

  private keepAlive(): void {
    this.lastSent = now();
    this.unanswered.push({ nonce: ++this.nonce, at: this.lastSent });
    this.send({ case: 'keepAlive', value: { nonce: this.nonce } });
    this.timers.set('keep-alive', this.interval, () => {
      this.keepAlive();
    });
    if (this.unanswered.length === 1) {
      this.watchSilence();
    }
  }

  /** Leaves the stream when a keep-alive has had no answer for two intervals, a second at least. */
  private watchSilence(): void {
    const oldest = this.unanswered[0];
    if (oldest === undefined) {
      this.timers.stop('silence');
    } else {
      this.timers.set('silence', oldest.at + Math.max(1000, 2 * this.interval) - now(), () => {
        this.leave({ pause: 0 });
      });
    }
  }

  // Requests, and what becomes of them.

  private ask(acquisition: Acquisition): void {
    if (!this.isOpen) {
      return; // the next stream repeats what counts
    }
    if (acquisition.state === 'releasing') {
      this.send({ case: 'release', value: { requestId: acquisition.id } });
      return;
    }
    acquisition.asked = true;
    this.timers.stop(`unasked ${acquisition.id}`);
    this.send({ case: 'acquire', value: acquisition.message() });
  }

  /** What is sent within one turn of the event loop leaves as one message. */
  private send(request: Sent): void {
    if (!this.isOpen || request === undefined) {
      return;
    }
    this.outbox.push(create(SessionRequestSchema, { request }));
    if (this.outbox.length === 1) {
      const { session } = this;
      setImmediate(() => {
        if (session !== undefined && this.session === session) {
          this.flush(session);
        }
      });
    }
  }

  private flush(session: Session): void {
    const messages = messagesOf(this.outbox, this.batches);
    this.outbox = [];
    messages.forEach((message) => session.write(message));
  }

  private onUnreachable(acquisition: Acquisition): void {
    if (acquisition.state === 'waiting' && !acquisition.asked) {
      const { words, cause } = this.failure ?? { words: 'no server was asked', cause: undefined };
      this.fail(acquisition, new ServerUnavailableError(`${String(acquisition.request)}: no server could be reached in time; last: ${words}`, { cause }));
    }
  }

  /** The wait limit has passed, and no server has said so. */
  private onNobodyCounts(acquisition: Acquisition): void {
    if (!acquisition.asked) {
      this.onUnreachable(acquisition);
    } else if (acquisition.state === 'waiting') {
      acquisition.granted.reject(new NotAcquiredError(`${String(acquisition.request)}: no server has answered in time`, 'TIMED_OUT'));
      this.release(acquisition);
    }
  }

  private onEvent(event: AcquireResponse): void {
    const acquisition = this.acquisitions.get(event.requestId) ?? this.releaseUnknown(Acquisition.ofUnknown(event));
    const said = event.event;
    if (!acquisition?.isNew(event)) {
      return;
    }
    switch (said.case) {
      case 'granted':
        this.onGranted(acquisition, said.value);
        break;
      case 'jeopardy':
        this.onJeopardy(acquisition, said, toMillis(said.value.validFor));
        break;
      case 'safe':
        if (acquisition.state === 'held' && acquisition.jeopardyUntil !== Infinity && !this.isDoubtOver(acquisition)) {
          acquisition.jeopardyUntil = Infinity;
          this.timers.stop(`jeopardy ${acquisition.id}`);
          acquisition.tell(said);
        }
        break;
      case 'lost':
        this.finish(acquisition, enumName(LossReasonSchema, said.value.reason), undefined);
        break;
      case 'notAcquired': {
        const reason = enumName(NotAcquiredReasonSchema, said.value.reason);
        const message = `${String(acquisition.request)}: ${said.value.message || reason}`;
        this.finish(acquisition, reason, undefined, new NotAcquiredError(message, reason, said.value.holders.map(toContender)));
        break;
      }
      case 'released':
        this.onReleasedEvent(acquisition);
        break;
      default:
        acquisition.tell(said);
    }
  }

  /** Releases what a server has queued or granted and nobody here waits for any more. */
  private releaseUnknown(unknown: Acquisition | undefined): Acquisition | undefined {
    if (unknown !== undefined) {
      if (this.acquisitions.size < MAX_REQUESTS) {
        this.acquisitions.set(unknown.id, unknown); // otherwise a later event has it released again
      }
      this.ask(unknown);
    }
    return unknown;
  }

  private onReleasedEvent(acquisition: Acquisition): void {
    if (acquisition.state !== 'releasing') {
      this.finish(acquisition, 'RELEASED', undefined);
      return;
    }
    // The answer to a release of ours says more than the event, and comes after it, if it comes.
    const result = create(ReleaseResponseSchema, { outcome: ReleaseOutcome.RELEASED });
    this.timers.set(`answer ${acquisition.id}`, SAYS_MORE, () => {
      this.finish(acquisition, 'RELEASED', result);
    });
  }

  /** Whether a jeopardy has lasted for too long: the caller may have seen that the locks were not valid, and no word makes them so again. */
  private isDoubtOver(acquisition: Acquisition): boolean {
    const over = acquisition.state === 'held' && now() >= acquisition.jeopardyUntil;
    if (over) {
      this.lose(acquisition, 'DEADLINE_PASSED');
    }
    return over;
  }

  private onGranted(acquisition: Acquisition, granted: Granted): void {
    if (this.isDoubtOver(acquisition)) {
      return;
    }
    acquisition.jeopardyUntil = Infinity;
    this.timers.stop(`jeopardy ${acquisition.id}`);
    if (acquisition.state === 'waiting') {
      this.stopTimers(acquisition);
      acquisition.onGranted(granted);
      acquisition.nest(this.acquisitions.values());
      this.timers.set(`max-hold ${acquisition.id}`, acquisition.holdUntil - now(), () => {
        // The server takes it away with the levels above it, so that who comes next hears that it was not released.
        for (const held of this.acquisitions.values()) {
          if (held.state === 'held' && (held === acquisition || held.outers.includes(acquisition))) {
            held.lose('MAX_HOLD');
          }
        }
      });
    } else if (acquisition.state === 'held' && !acquisition.onGrantedAgain(granted)) {
      this.lose(acquisition, 'REMOVED'); // not the hold that the caller has
    }
  }

  private onJeopardy(acquisition: Acquisition, said: AcquireResponse['event'], validFor: number): void {
    if (acquisition.state === 'held' && !this.isDoubtOver(acquisition)) {
      acquisition.jeopardyUntil = now() + validFor;
      this.timers.set(`jeopardy ${acquisition.id}`, validFor, () => {
        this.lose(acquisition, 'DEADLINE_PASSED');
      });
      acquisition.tell(said);
    }
  }

  /** The client gives the locks up by itself: what the server may still keep for it is released. */
  private lose(acquisition: Acquisition, reason: string): void {
    if (acquisition.state === 'held') {
      acquisition.lose(reason);
      this.release(acquisition);
    }
  }

  private onRefused(refused: Refused): End | undefined {
    const again = refused.retryAfter === undefined ? Infinity : Math.max(50, toMillis(refused.retryAfter));
    const { request } = refused;
    switch (request.case) {
      case 'close':
        return { over: 'CLOSED' }; // the TTL does the rest
      case 'keepAlive':
        if (again !== Infinity) {
          this.timers.set('keep-alive', again, () => {
            this.keepAlive();
          });
        }
        break;
      case 'answerRelease':
      case 'updateMetadata':
        this.questions.onAnswer(request.case, request.value, refusal(request.case, refused));
        break;
      case 'acquire':
      case 'release': {
        const acquisition = this.acquisitions.get(request.value);
        // While it is released, the answer to the release decides.
        if (acquisition !== undefined && (request.case === 'release') === (acquisition.state === 'releasing')) {
          this.onRequestRefused(acquisition, refused, again);
        }
        break;
      }
      default: // nothing, or something of a later version
    }
    return undefined;
  }

  private onRequestRefused(acquisition: Acquisition, refused: Refused, again: number): void {
    if (again !== Infinity && acquisition.state === 'waiting' && now() + again >= acquisition.giveUp) {
      this.fail(acquisition, new NotAcquiredError(`${String(acquisition.request)}: ${refused.message}`, 'TIMED_OUT'));
    } else if (again !== Infinity) {
      this.timers.set(`again ${acquisition.id}`, again, () => {
        this.ask(acquisition);
      });
    } else if (acquisition.state === 'waiting') {
      this.fail(acquisition, refusal(String(acquisition.request), refused));
    } else if (acquisition.state === 'held') {
      this.lose(acquisition, enumName(ErrorReasonSchema, refused.reason));
    } else {
      this.finish(acquisition, 'REFUSED', undefined);
    }
  }

  private fail(acquisition: Acquisition, error: LockkeeperError): void {
    this.forget(acquisition);
    acquisition.fail(error);
  }

  /** A server has told the end of a request. */
  private finish(acquisition: Acquisition, reason: string, result: ReleaseResponse | undefined, error?: LockkeeperError): void {
    this.forget(acquisition);
    if (acquisition.state === 'waiting') {
      const closed = this.closing ? new ClosedError(`${String(acquisition.request)}: the client was closed`) : undefined;
      acquisition.fail(closed ?? error ?? new NotAcquiredError(`${String(acquisition.request)}: ${reason}`, reason));
    } else if (acquisition.state === 'held') {
      acquisition.lose(reason);
      acquisition.finish(undefined);
    } else {
      acquisition.finish(result);
    }
  }

  private forget(acquisition: Acquisition): void {
    this.stopTimers(acquisition);
    this.acquisitions.delete(acquisition.id);
  }

  private stopTimers(acquisition: Acquisition): void {
    for (const kind of ['unasked', 'give-up', 'again', 'jeopardy', 'max-hold', 'answer']) {
      this.timers.stop(`${kind} ${acquisition.id}`);
    }
  }
}
