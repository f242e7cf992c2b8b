/** Servers in memory that are shards, and what tests look at in them. */
import type { Client } from 'lockkeeper';
import { FakeServer, type FakeShardTable } from 'lockkeeper/testing';

type Placing = Partial<Omit<FakeShardTable, 'version' | 'shards'>>;

/** Two shards, a and b; `orders` is of a, `stock` of b. */
export class TwoShards {
  version = 0;

  private constructor(
    readonly a: FakeServer,
    readonly b: FakeServer,
  ) {}

  static async start(): Promise<TwoShards> {
    const shards = new TwoShards(await FakeServer.start(), await FakeServer.start());
    shards.place({});
    return shards;
  }

  /** The next table. */
  table(placing: Placing): FakeShardTable {
    const { namespaces } = placing;
    const addresses = { a: [this.a.address], b: [this.b.address] };
    return { version: ++this.version, shards: addresses, ...placing, namespaces: { orders: 'a', stock: 'b', ...namespaces } };
  }

  /** Both have the next table. */
  place(placing: Placing): void {
    const table = this.table(placing);
    this.a.becomeShard('a', table);
    this.b.becomeShard('b', table);
  }

  close(): void {
    this.a.close();
    this.b.close();
  }
}

/** What a server has: its leases, and how many requests are in the queues of its locks. */
export function has(server: FakeServer): { leases: number; requests: number } {
  const { leases, queues } = server as unknown as { leases: Map<string, unknown>; queues: Map<string, unknown[]> };
  return { leases: leases.size, requests: [...queues.values()].flat().length };
}

/** How many requests of a client are under way or hold, and how many of them are between two shards. */
export function sizeOf(client: Client): { size: number; between: number } {
  const { size, between } = (client as unknown as { core: { size: number; between: number } }).core;
  return { size, between };
}
