/** Which shard serves which namespace: a table, as a server has given it. */
import { createHash } from 'node:crypto';
import { parseServers, type Target } from './transport.js';
import type { Shard as ShardMessage, ShardTable as TableMessage } from './gen/lockkeeper/v1/shard_service_pb.js';

/** How many shards there are at most. */
export const MOST_SHARDS = 1000;
const MOST_NAMESPACES = 10_000;
const MOST_MOVES = 100;
const MOST_ADDRESSES = 16;
const MOST_REMEMBERED = 10_000; // namespaces whose weights were compared

/** One ensemble with its coordinators. */
export interface Shard {
  readonly id: string;
  readonly targets: readonly Target[];
}

/** The namespace of a lock, or of those below a prefix that has a `/` in it. */
export function namespaceOf(name: string): string {
  const end = name.indexOf('/');
  return end < 0 ? name : name.slice(0, end);
}

/** How much a shard weighs for a namespace that no table names: the heaviest one serves it. */
export function weightOf(id: string, namespace: string): bigint {
  return createHash('sha256').update(`${id}/${namespace}`).digest().readBigUInt64BE();
}

/** A shard as a message describes it; undefined: it is not as the contract says. */
export function toShard(message: ShardMessage | undefined): Shard | undefined {
  if (message === undefined || !/^[a-z0-9-]{1,32}$/.test(message.id) || message.addresses.length < 1 || message.addresses.length > MOST_ADDRESSES) {
    return undefined;
  }
  try {
    return { id: message.id, targets: message.addresses.flatMap(parseServers) };
  } catch {
    return undefined;
  }
}

/** A table that does not change: another version is another one. */
export class ShardTable {
  private readonly remembered = new Map<string, Shard | undefined>();

  private constructor(
    /** Above zero. The higher one counts. */
    readonly version: bigint,
    private readonly shards: ReadonlyMap<string, Shard>,
    private readonly hashed: readonly string[],
    private readonly named: ReadonlyMap<string, Shard>,
  ) {}

  /** Reads a table; undefined: there is none, or it is not as the contract says, or larger. */
  static from(message: TableMessage | undefined): ShardTable | undefined {
    if (message === undefined || message.version <= 0n || !isWithin(message)) {
      return undefined;
    }
    const shards = new Map<string, Shard>();
    for (const each of message.shards) {
      const shard = toShard(each);
      if (shard === undefined || shards.has(shard.id)) {
        return undefined;
      }
      shards.set(shard.id, shard);
    }
    const named = new Map<string, Shard>();
    for (const each of message.namespaces) {
      const shard = shards.get(each.shard);
      if (shard === undefined) {
        return undefined;
      }
      named.set(each.namespace, shard);
    }
    const hashed = message.shards.filter((each) => each.hashed).map((each) => each.id);
    return new ShardTable(message.version, shards, hashed.sort(), named);
  }

  /** The shard of that id, if the table has it. */
  get(id: string): Shard | undefined {
    return this.shards.get(id);
  }

  /** The shard that serves a namespace, or did until it began to move; undefined: it is not named, and no shard takes those. */
  shardOf(namespace: string): Shard | undefined {
    const named = this.named.get(namespace);
    if (named !== undefined) {
      return named;
    }
    if (!this.remembered.has(namespace)) {
      if (this.remembered.size >= MOST_REMEMBERED) {
        this.remembered.clear();
      }
      this.remembered.set(namespace, this.shards.get(this.heaviestFor(namespace)));
    }
    return this.remembered.get(namespace);
  }

  /** Of two with one weight the first: they are in order. Empty: there is none. */
  private heaviestFor(namespace: string): string {
    let heaviest = '';
    let most = -1n;
    for (const id of this.hashed) {
      const weight = weightOf(id, namespace);
      if (weight > most) {
        heaviest = id;
        most = weight;
      }
    }
    return heaviest;
  }
}

function isWithin({ shards, namespaces, moves }: TableMessage): boolean {
  return shards.length <= MOST_SHARDS && namespaces.length <= MOST_NAMESPACES && moves.length <= MOST_MOVES;
}
