/** Which servers a request goes to, where several shards share the namespaces. */
import { setMaxListeners } from 'node:events';
import { status as Code } from '@grpc/grpc-js';
import { Caller } from './caller.js';
import { ClosedError, isElsewhere, RequestRefusedError, WrongShardError } from './errors.js';
import { MOST_SHARDS, namespaceOf, ShardTable, toShard, type Shard } from './shards.js';
import { backoff, now, pause, unlessAborted } from './timers.js';
import { Servers, type Target, type Transport } from './transport.js';
import type { Keeper } from './kept.js';
import { ShardService, type GetShardsResponse } from './gen/lockkeeper/v1/shard_service_pb.js';

const STRAIGHT_ON = 2; // so often a request follows at once
const CHANGING = 1000; // for how long at least a shard is left alone that refuses what the table gives it
const MOST_HINTS = 1000;

/** What the router must know of its client. Times are milliseconds. */
export interface RouterSettings {
  readonly transport: Transport;
  readonly requestTimeout: number;
  /** Begins with the first server of each shard. */
  readonly firstServer: boolean;
}

/** A shard that the client has to do with: its servers, and what the client has there. */
export class Place {
  /** What it holds there. */
  keeper: Keeper | undefined;
  /** For its leases. */
  readonly servers: Servers;
  /** For its calls and watches. */
  readonly callServers: Servers;
  readonly caller: Caller;

  constructor(
    /** The shard's; empty: not known. */
    public id: string,
    targets: readonly Target[],
    { transport, firstServer }: RouterSettings,
    closed: AbortSignal,
  ) {
    const first = firstServer ? 0 : Math.floor(Math.random() * targets.length);
    this.servers = new Servers(targets, first);
    this.callServers = new Servers(targets, first);
    this.caller = new Caller(transport, this.callServers, closed);
  }

  /** Whether the client has no lease there, and no call under way. */
  get isUnused(): boolean {
    return (this.keeper === undefined || this.keeper.lease.isOver) && this.caller.isIdle;
  }

  /** The shard's servers have other addresses now. */
  move(targets: readonly Target[]): void {
    this.servers.replace(targets);
    this.callServers.replace(targets);
  }
}

/** What is asked about: a lock, or those below a prefix that has a `/` in it. */
interface Named {
  readonly name: string;
}

/** What a shard has said of one namespace, while there is no table that is as new. */
interface Hint {
  readonly version: bigint;
  readonly shard: Shard;
}

/** Knows the shards as far as it was told of them. Nobody is asked for the table before a shard refuses a namespace. */
export class Router {
  /** The servers that the client was given, and then each shard to which something went. */
  readonly places: Place[];
  private readonly home: Place;
  private table: ShardTable | undefined;
  private readonly hints = new Map<string, Hint>();
  private learning: Promise<void> | undefined;
  private readonly closing = new AbortController();
  private readonly closed = new AbortController();

  constructor(
    targets: readonly Target[],
    readonly settings: RouterSettings,
  ) {
    // One for each call under way.
    setMaxListeners(0, this.closing.signal);
    setMaxListeners(0, this.closed.signal);
    this.home = new Place('', targets, settings, this.closed.signal);
    this.places = [this.home];
  }

  /** Aborted when the client begins to close. */
  get closingSignal(): AbortSignal {
    return this.closing.signal;
  }

  /** Aborted when all that the client held is given back. */
  get closedSignal(): AbortSignal {
    return this.closed.signal;
  }

  /**
   * Where to ask about these; of none: the servers that the client was given.
   *
   * @throws RequestRefusedError ACROSS_SHARDS if the table gives them to several shards
   */
  placeOf(asked: readonly Named[]): Place {
    const [first] = asked;
    if (first === undefined || (this.table === undefined && this.hints.size === 0)) {
      return this.home;
    }
    const hint = this.hintOf(asked);
    const place = this.placeFor(hint?.shard ?? this.table?.shardOf(namespaceOf(first.name)));
    // What is newer than the table says nothing of the other locks: the server knows.
    const other = hint === undefined ? asked.find((each) => this.placeFor(this.table?.shardOf(namespaceOf(each.name))) !== place) : undefined;
    if (other !== undefined) {
      const [one, two] = [first.name, other.name].map((name) => JSON.stringify(name));
      throw new RequestRefusedError(
        `${String(one)} and ${String(two)} are of different shards: no request spans several`,
        'ACROSS_SHARDS',
        Code.FAILED_PRECONDITION,
      );
    }
    return place;
  }

  /**
   * A shard does not serve what it was asked about: asks it for its table, unless a newer one is known, or somebody is asking, and waits for that so many milliseconds at
   * most. Returns whether, by what is known then, another shard serves it.
   *
   * @throws the error if nothing says who does; RequestRefusedError ACROSS_SHARDS; or what the signal is aborted with
   */
  async learn(error: WrongShardError, asked: readonly Named[], from: Place, patience: number, signal: AbortSignal): Promise<boolean> {
    const version = error.said?.tableVersion ?? 0n;
    if (this.table === undefined || this.table.version < version || this.placeOf(asked) === from) {
      await unlessAborted(this.refresh(from), Math.max(0, patience), signal).catch(() => {
        signal.throwIfAborted();
      });
    }
    const hint = toShard(error.said?.shard);
    if (error.said !== undefined && hint !== undefined && this.isNews(error.said.namespace, version, hint)) {
      this.note(error.said.namespace, { version, shard: hint });
    }
    if (this.table === undefined && hint === undefined) {
      throw error;
    }
    return this.placeOf(asked) !== from;
  }

  /** The client begins to close: what is between two shards ends. */
  beginClose(): void {
    this.closing.abort(new ClosedError('the client was closed'));
  }

  /** Ends all calls and watches. */
  close(): void {
    this.closed.abort(new ClosedError('the client is closed'));
    this.places.forEach((place) => {
      place.caller.close();
    });
  }

  /** Whether a shard's word counts: it is newer than the table, or says something else. That may leave out what the client had no right on. */
  private isNews(namespace: string, version: bigint, said: Shard): boolean {
    const known = this.table?.version ?? -1n;
    return version > known || (version === known && this.table?.shardOf(namespace)?.id !== said.id);
  }

  private hintOf(asked: readonly Named[]): Hint | undefined {
    const hinted = this.hints.size === 0 ? undefined : asked.find((each) => this.hints.has(namespaceOf(each.name)));
    return hinted === undefined ? undefined : this.hints.get(namespaceOf(hinted.name));
  }

  private placeFor(shard: Shard | undefined): Place {
    if (shard === undefined) {
      return this.home;
    }
    // The first: the servers that the client was given, if they are that shard.
    let place = this.places.find((each) => each.id === shard.id);
    if (place === undefined) {
      if (this.places.length > MOST_SHARDS) {
        this.dropUnused();
      }
      place = new Place(shard.id, shard.targets, this.settings, this.closed.signal);
      this.places.push(place);
    }
    return place;
  }

  /** What was a shard once and has nothing of the client any more is forgotten, where there are too many. */
  private dropUnused(): void {
    const unused = this.places.filter((place) => place !== this.home && place.isUnused);
    for (const place of unused) {
      this.places.splice(this.places.indexOf(place), 1);
      place.caller.close();
    }
  }

  /** The older of the hints are dropped where there are too many: the shard says it again. */
  private note(namespace: string, hint: Hint): void {
    if (hint.version < (this.hints.get(namespace)?.version ?? 0n)) {
      return;
    }
    this.hints.delete(namespace);
    const [oldest] = this.hints.keys();
    if (oldest !== undefined && this.hints.size >= MOST_HINTS) {
      this.hints.delete(oldest);
    }
    this.hints.set(namespace, hint);
    this.places.find((place) => place !== this.home && place.id === hint.shard.id)?.move(hint.shard.targets);
  }

  /** One question for the table at a time. */
  private refresh(from: Place): Promise<void> {
    this.learning ??= this.fetch(from).finally(() => {
      this.learning = undefined;
    });
    return this.learning;
  }

  private async fetch(from: Place): Promise<void> {
    try {
      const answer = await from.caller.call(ShardService.method.getShards, from.id, {}, now() + this.settings.requestTimeout);
      this.adopt(answer, from);
    } catch {
      return; // what the shard has said with its refusal must do
    }
    if (from !== this.home && this.home.id === '') {
      await this.fetch(this.home); // or the client would have two leases at that shard
    }
  }

  private adopt(answer: GetShardsResponse, from: Place): void {
    if (from === this.home) {
      this.home.id = answer.self;
    }
    const table = ShardTable.from(answer.table);
    if (table === undefined || table.version <= (this.table?.version ?? 0n)) {
      return;
    }
    this.table = table;
    this.hints.forEach((hint, namespace) => {
      if (hint.version <= table.version) {
        this.hints.delete(namespace);
      }
    });
    for (const place of this.places) {
      const shard = table.get(place.id);
      if (shard !== undefined && place !== this.home) {
        place.move(shard.targets);
      }
    }
  }
}

/** The way of one request from shard to shard, begun when one has sent it on. */
export class Way {
  private signal: AbortSignal | undefined;
  private followed = 0;
  private moved = 0;

  /**
   * @param giveUp when its time is over; Infinity: never
   * @param grace for how long after that an answer is waited for, in milliseconds
   */
  constructor(
    private readonly router: Router,
    private readonly asked: readonly Named[],
    private readonly giveUp: number,
    private readonly grace: number,
    private readonly withdrawn?: AbortSignal,
  ) {}

  /**
   * Done when the request may be asked again, at the place that the router has for it then. False: its time is over before that.
   *
   * @throws the error if that is the request's end, since no other shard is to be asked; RequestRefusedError ACROSS_SHARDS; or what its signal is aborted with
   */
  async onward(error: unknown, from: Place): Promise<boolean> {
    if (this.asked.length === 0 || !isElsewhere(error)) {
      throw error;
    }
    const { closingSignal, settings } = this.router;
    const signal = (this.signal ??= this.withdrawn === undefined ? closingSignal : AbortSignal.any([this.withdrawn, closingSignal]));
    signal.throwIfAborted();
    if (!(error instanceof WrongShardError)) {
      return await this.pause(this.moved++ === 0 ? 0 : backoff(this.moved), signal);
    }
    // Half of the time is left for the shard that is asked then.
    const patience = Math.min(settings.requestTimeout, (this.giveUp + this.grace - now()) / 2);
    const isOther = await this.router.learn(error, this.asked, from, patience, signal);
    if (isOther && this.followed++ < STRAIGHT_ON) {
      return true; // what may not wait, too
    }
    return await this.pause(CHANGING * (1 + Math.random() / 2), signal);
  }

  private async pause(length: number, signal: AbortSignal): Promise<boolean> {
    if (now() + length >= this.giveUp) {
      return false;
    }
    await pause(length, signal);
    return true;
  }
}
