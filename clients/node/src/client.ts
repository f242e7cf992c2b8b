/// <reference lib="esnext.disposable" preserve="true" />
import { setMaxListeners } from 'node:events';
import { Acquisition, LossSignal, MAX_REQUESTS, type Hold, type Told } from './acquisition.js';
import { Calls, Closings } from './calls.js';
import { Election } from './election.js';
import { ClosedError, LockLostError, LockkeeperError, NotAcquiredError } from './errors.js';
import { toContended, toPlaces, toReleaseRequested, type Contended, type Contender, type Grant, type LockInfo, type WatchEvent } from './events.js';
import { Keeper } from './kept.js';
import { Lease, type LeaseSettings } from './lease.js';
import { Lock, lossOf } from './lock.js';
import { toMillis } from './messages.js';
import { safely, type Observation, type Observer } from './observer.js';
import { checkLabel, checkName, Request, within, type LockOptions, type Locks } from './requests.js';
import { now } from './timers.js';
import { parseServers, Servers, type TokenSource } from './transport.js';

const CLOSING = 5000; // for the end of the leases

/** How a client is made. Times are milliseconds. */
export interface ClientOptions {
  /** How long the lease lives without a keep-alive, 2,000 to 3,600,000. Default: as the server says, commonly 15,000. */
  readonly ttl?: number;
  /** Who the client is, human-readable, up to 256 bytes. Default: the server shows its address. */
  readonly holder?: string;
  /** How long a server may take to be reached and to answer. Default: 15,000. A wait in a queue is not limited by it. */
  readonly requestTimeout?: number;
  /** Encrypts; trusts the authorities of Node.js, or those in the PEM file `ca`. */
  readonly tls?: boolean;
  /** A PEM file of authorities. All files are read again for each connection. */
  readonly ca?: string;
  /** A PEM file with the client's certificate, for mutual TLS. */
  readonly certificate?: string;
  /** A PEM file with its key. */
  readonly key?: string;
  /**
   * Returns the bearer token of the moment; asked for each stream and call. It goes out over TLS only, or to this machine. If it throws, that
   * counts as a server that cannot be reached.
   */
  readonly token?: TokenSource;
  /** Is told what the client does, for metrics and traces. */
  readonly observer?: Observer;
  /** Begins with the first server of the list. Default: with any, so that clients spread. */
  readonly firstServer?: boolean;
}

/** A request that is under way, and how to give up what becomes of it. */
interface Asked {
  readonly lease: Lease;
  readonly hold: Hold;
  readonly release: () => void;
}

/** What outlives a client that nobody has closed: it does not know the client. */
class Core {
  closed = false;
  private keeper: Keeper | undefined;
  private count = 0;
  private ending: Promise<void> | undefined;

  constructor(
    private readonly settings: LeaseSettings,
    private readonly servers: Servers,
    readonly calls: Calls,
    private readonly closings: Closings,
  ) {}

  get lease(): Lease | undefined {
    return this.keeper?.lease;
  }

  ask(request: Request, tell: Told): Asked {
    if (this.closed) {
      throw new ClosedError('the client is closed');
    }
    const keeper = this.currentKeeper();
    const { lease } = keeper;
    if (lease.acquisitions.size + keeper.waiting >= MAX_REQUESTS) {
      throw new LockkeeperError(`a client has at most ${String(MAX_REQUESTS)} requests and locks at a time`);
    }
    const use = keeper.ask(request, tell);
    if (use !== undefined) {
      return {
        lease,
        hold: use,
        release: () => {
          keeper.release(use);
        },
      };
    }
    const acquisition = new Acquisition(this.nextId(), request, tell);
    lease.acquire(acquisition);
    return {
      lease,
      hold: acquisition,
      release: () => {
        lease.release(acquisition);
      },
    };
  }

  /** Makes it where no request can be seen, so that it holds on to none. */
  private currentKeeper(): Keeper {
    this.lease?.checkDeadline(); // its timer may be late
    if (this.keeper === undefined || this.keeper.lease.isOver) {
      this.keeper = new Keeper(new Lease(this.settings, this.servers), () => this.nextId());
    }
    return this.keeper;
  }

  private nextId(): string {
    return String(++this.count);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.ending ??= this.end();
    await this.ending;
  }

  private async end(): Promise<void> {
    const limit = now() + CLOSING;
    await this.lease?.close();
    this.keeper = undefined;
    await this.closings.wait(Math.max(0, limit - now()));
    this.calls.close();
  }
}

const forgotten = new FinalizationRegistry<Core>((core) => {
  void core.close();
});

/**
 * Acquires locks, keeps its lease alive, and knows without a server until when its locks may be used. Make one per process and share it:
 *
 * ```ts
 * const client = new Client('lock1:7420,lock2:7420');
 * await client.withLock('orders/42', async (lock) => {
 *   await stock.decrement(item, lock.fencingToken);
 * });
 * await client.close();
 * ```
 *
 * It has one lease, opened when a lock is first asked for. When the connection breaks, the lease is resumed at the next server: requests keep
 * their places, and locks their tokens. Only when the lease ends are its locks lost.
 *
 * A client that has been used keeps the process alive, as open sockets do, until it is closed.
 */
export class Client implements AsyncDisposable {
  private readonly core: Core;
  private readonly observer: Observer;
  private readonly requestTimeout: number;
  private readonly holder: string;

  /**
   * @param servers `host:port`, or several separated by commas; the port may be left out and is 7420 then. Of a name with several addresses each is
   *     a server. It may begin with `dns:///`.
   * @throws RangeError if something is malformed or out of range; the message names it
   */
  constructor(servers: string, options: ClientOptions = {}) {
    const targets = parseServers(servers);
    within('ttl', options.ttl ?? 2000, 2000, 3_600_000);
    within('requestTimeout', options.requestTimeout ?? 1, 1, 0x7fffffff);
    checkLabel('holder', options.holder);
    if ((options.certificate === undefined) !== (options.key === undefined)) {
      throw new RangeError('certificate and key must be given together');
    }
    if (options.token !== undefined && typeof options.token !== 'function') {
      throw new TypeError('token must be a function that returns the token');
    }
    this.requestTimeout = options.requestTimeout ?? 15_000;
    this.observer = options.observer ?? {};
    this.holder = options.holder ?? '';
    const transport = {
      tls: options.tls === true || options.ca !== undefined || options.certificate !== undefined,
      ca: options.ca,
      certificate: options.certificate,
      key: options.key,
      token: options.token,
    };
    const { requestTimeout } = this;
    const first = options.firstServer === true ? 0 : Math.floor(Math.random() * targets.length);
    const closings = new Closings(transport, () => new Servers(targets, first));
    const onOver = (id: string, reason: string): void => {
      closings.begin(id, reason);
    };
    const settings = { transport, ttl: options.ttl, holder: this.holder, requestTimeout, observer: this.observer, onOver };
    this.core = new Core(settings, new Servers(targets, first), new Calls(transport, new Servers(targets, first), requestTimeout), closings);
    forgotten.register(this, this.core, this);
  }

  /** The public short name of the lease, as others see it; empty before the first lock. */
  get leaseTag(): string {
    return this.core.lease?.tag ?? '';
  }

  /**
   * Acquires one lock or several, and waits as long as `options.wait` says. When `options.signal` is aborted, the request is withdrawn, its
   * reason thrown at once, and a grant that comes all the same released.
   *
   * @throws NotAcquiredError, LeaseLostError (ask again), ServerUnavailableError, RequestRefusedError, ClosedError, or RangeError
   */
  async lock(locks: Locks, options: LockOptions = {}): Promise<Lock> {
    const request = new Request(locks, options);
    options.signal?.throwIfAborted();
    const observation = safely(() => this.observer.acquiring?.(request.specs.map((spec) => spec.name)));
    const began = now();
    try {
      const lock = await this.acquire(request, observation);
      safely(() => observation?.acquired?.(lock.grants, now() - began));
      return lock;
    } catch (error) {
      safely(() => observation?.notAcquired?.(error, now() - began));
      throw error;
    }
  }

  private async acquire(request: Request, observation: Observation | undefined): Promise<Lock> {
    const { signal } = request.options;
    if (signal !== undefined) {
      safely(() => {
        setMaxListeners(0, signal); // one for each request that it can withdraw
      });
    }
    const loss = new LossSignal();
    const listener = new Listener(request, observation, loss);
    const { lease, hold, release } = this.core.ask(request, (what) => {
      listener.hear(what);
    });
    const withdraw = (): void => {
      hold.granted.reject(signal?.reason);
      release();
    };
    signal?.addEventListener('abort', withdraw, { once: true });
    try {
      await hold.granted.promise;
      signal?.throwIfAborted();
    } finally {
      signal?.removeEventListener('abort', withdraw);
    }
    const lock = new Lock({ client: this, lease, hold, release, observation, loss, requestTimeout: this.requestTimeout });
    listener.attach(lock.grants);
    return lock;
  }

  /** {@link Client.lock}, for locks that are free or get free within `options.wait`, by default at once; undefined: they do not. */
  async tryLock(locks: Locks, options: LockOptions = {}): Promise<Lock | undefined> {
    try {
      return await this.lock(locks, { ...options, wait: options.wait ?? 0 });
    } catch (error) {
      if (error instanceof NotAcquiredError && error.reason === 'TIMED_OUT') {
        return undefined;
      }
      throw error;
    }
  }

  /**
   * Runs work while it holds locks, and releases them after it. `lock.signal` is aborted when they are lost: hand it to what the work calls.
   *
   * @throws LockLostError if the locks were lost by the end; or what the work throws, if that is not the abort itself
   */
  async withLock<T>(locks: Locks, work: (lock: Lock) => Promise<T> | T, options: LockOptions = {}): Promise<T> {
    return await runUnder(await this.lock(locks, options), work);
  }

  /** An election of one leader among candidates, who is the holder of this lock. */
  election(name: string): Election {
    checkName(name);
    return new Election(this, name);
  }

  /** Who holds a lock, and who waits for it. A lock that nobody uses is a free one. */
  async getLock(name: string): Promise<LockInfo> {
    return await this.alive().getLock(name);
  }

  /** The locks in use whose names begin with `prefix`, ordered by name. */
  listLocks(prefix = ''): AsyncGenerator<LockInfo, void, undefined> {
    return this.kept(this.alive().listLocks(prefix));
  }

  /** Whether a token is that of a current holder, after a write through ZooKeeper's quorum. */
  async checkToken(name: string, fencingToken: bigint): Promise<boolean> {
    return await this.alive().checkToken(name, fencingToken);
  }

  /** Asks the holders of a lock to give way, and returns who was asked. Nothing is taken away by this. */
  async requestRelease(name: string, reason = '', deadline?: number): Promise<readonly Contender[]> {
    return await this.alive().requestRelease(name, reason, deadline, this.holder);
  }

  /** Sets the limit of a lock of permits, 1 to 1,000,000; 0 takes the setting back. Returns the one before; 0: none. */
  async configureLock(name: string, limit: number): Promise<number> {
    return await this.alive().configureLock(name, limit);
  }

  /**
   * The state of locks, and then every change, until the loop is left. Reconnects to other servers by itself. When `signal` is aborted, its reason is thrown.
   *
   * @param what up to 256 names, or a prefix of all
   */
  watch(what: readonly string[] | { readonly prefix: string }, signal?: AbortSignal): AsyncGenerator<WatchEvent, void, undefined> {
    return this.kept(this.alive().watch(what, signal));
  }

  /** Ends the lease with all that it holds, and lets go of the servers; takes some seconds where none answers. */
  async close(): Promise<void> {
    forgotten.unregister(this);
    await this.core.close();
  }

  /** {@link Client.close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The same items; whoever is in the loop keeps the client. */
  private async *kept<T>(items: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
    for await (const item of items) {
      this.alive();
      yield item;
    }
  }

  private alive(): Calls {
    if (this.core.closed) {
      throw new ClosedError('the client is closed');
    }
    return this.core.calls;
  }
}

/** @internal Runs work under a lock that is held, and releases it. */
export async function runUnder<T>(lock: Lock, work: (lock: Lock) => Promise<T> | T): Promise<T> {
  let result: T;
  try {
    result = await work(lock);
  } catch (error) {
    const reason = lock.lostReason;
    await lock.release();
    const isAbort = error instanceof LockLostError || (error instanceof Error && error.name === 'AbortError');
    throw reason !== undefined && isAbort ? lock.loss(reason) : error;
  }
  await lock[Symbol.asyncDispose]();
  return result;
}

/** Passes on what happens to a request. Knows neither lock nor client, so that nothing in the background keeps them alive. */
class Listener {
  private since: number | undefined;
  private isContended = false;
  private early: Parameters<Told>[0][] = [];

  constructor(
    private readonly request: Request,
    private readonly observation: Observation | undefined,
    private readonly loss: LossSignal,
  ) {}

  /** The caller gets the lock; what was told between the grant and now is told now. */
  attach(grants: readonly Grant[]): void {
    this.since = now();
    const { early } = this;
    this.early = [];
    const wanted = grants.find((grant) => grant.waiters > 0);
    if (wanted !== undefined) {
      this.onContended({ name: wanted.name, waiters: wanted.waiters, frozen: undefined });
    }
    early.forEach((what) => {
      this.hear(what);
    });
  }

  hear(what: Parameters<Told>[0]): void {
    const { options } = this.request;
    const { since } = this;
    if (what.case === 'queued' || what.case === 'position') {
      const { positions } = what.value;
      safely(() => options.onQueued?.(toPlaces(positions)));
    } else if (since === undefined) {
      this.early.push(what);
    } else if (what.case === 'releaseRequested') {
      const asked = toReleaseRequested(what.value);
      safely(() => options.onReleaseRequested?.(asked));
    } else if (what.case === 'contended') {
      this.onContended(toContended(what.value));
    } else if (what.case === 'jeopardy') {
      const validFor = toMillis(what.value.validFor);
      safely(() => options.onJeopardy?.(validFor));
    } else if (what.case === 'safe') {
      safely(() => options.onSafe?.());
    } else if (what.case === 'gone') {
      safely(() => this.observation?.lost?.(what.value, now() - since));
      this.loss.abort(lossOf(this.request, what.value));
      safely(() => options.onLost?.(what.value));
    }
  }

  /** A server says it anew after each resume, and the caller hears it once. */
  private onContended(contended: Contended): void {
    if (this.request.notifiesContention && !this.isContended) {
      this.isContended = true;
      safely(() => this.request.options.onContended?.(contended));
    }
  }
}
