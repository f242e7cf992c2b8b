/** Watches where several shards share the namespaces. On servers that say what the test says. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Server, ServerCredentials, type ServerWritableStream } from '@grpc/grpc-js';
import { Client, type WatchEvent } from 'lockkeeper';
import { fakes, lockMessages, shardMessages, watchMessages } from './internals.js';

type Watching = ServerWritableStream<{ startRevision: string; prefix: string; names: string[] }, unknown>;

/** Has a table, and shows no lock in a watch, or says who serves its namespace. */
class WatchServer {
  readonly server = new Server();
  readonly watching: Watching[] = [];
  readonly asked: string[] = [];
  tablesAsked = 0;
  shard!: InstanceType<typeof fakes.FakeShard>;

  constructor(private readonly revision: string) {}

  async listen(): Promise<string> {
    fakes.serve(this.server, shardMessages.ShardService.method.getShards, () => {
      this.tablesAsked++;
      return { self: this.shard.id, table: this.shard.message() };
    });
    const { name, parent, input, output } = lockMessages.LockService.method.watch;
    const watch = (stream: Watching): void => {
      this.watch(stream);
    };
    this.server.register(`/${parent.typeName}/${name}`, watch, fakes.codec(output)[0], fakes.codec(input)[1], 'serverStream');
    return await new Promise((done, fail) => {
      this.server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
        if (error === null) {
          done(`127.0.0.1:${String(port)}`);
        } else {
          fail(error);
        }
      });
    });
  }

  /** Ends the watches of what it does not serve any more. */
  become(shard: InstanceType<typeof fakes.FakeShard>): void {
    this.shard = shard;
    for (const stream of this.watching.splice(0)) {
      this.watch(stream);
    }
  }

  private watch(stream: Watching): void {
    const { prefix, names, startRevision } = stream.request;
    this.asked.push(startRevision);
    const about = [...names, ...(prefix.includes('/') ? [prefix] : [])];
    const refusal = this.shard.refuses(about);
    if (refusal !== undefined) {
      stream.emit('error', new fakes.RefusedCall(refusal));
      return;
    }
    this.watching.push(stream);
    const event: MessageInitShape<typeof watchMessages.WatchResponseSchema>['event'] = { case: 'snapshotEnd', value: {} };
    stream.write(create(watchMessages.WatchResponseSchema, { revision: this.revision, event }));
  }
}

const a = new WatchServer('11');
const b = new WatchServer('22');
const addresses = { a: [await a.listen()], b: [await b.listen()] };
let version = 0;

function place(namespaces: Record<string, string>, moves: Record<string, string> = {}): void {
  const table = { version: ++version, shards: addresses, namespaces, moves };
  b.become(new fakes.FakeShard('b', table));
  a.become(new fakes.FakeShard('a', table));
}

after(() => {
  a.server.forceShutdown();
  b.server.forceShutdown();
});

async function next(watch: AsyncGenerator<WatchEvent, void, undefined>): Promise<string | undefined> {
  const event = await watch.next();
  return event.done === true ? undefined : event.value.kind;
}

for (const what of [['orders/1'], { prefix: 'orders/' }]) {
  test(`watch of ${JSON.stringify(what)} begins at the shard of the namespace, and anew, with a gap, where that goes`, { timeout: 300_000 }, async () => {
    place({ orders: 'b' });
    const before = [a.asked.length, b.asked.length];
    const client = new Client(addresses.a[0] ?? '');
    const watch = client.watch(what);
    assert.equal(await next(watch), 'snapshotEnd'); // no gap: there was nothing before
    assert.deepEqual([a.asked.length, b.asked.slice(before[1])], [(before[0] ?? 0) + 1, ['0']]);
    place({ orders: 'b' }, { orders: 'a' });
    const following = next(watch);
    place({ orders: 'a' });
    assert.equal(await following, 'gap');
    assert.equal(await next(watch), 'snapshotEnd');
    assert.equal(a.asked.at(-1), '0'); // a revision of one shard says nothing to another
    await client.close();
    await assert.rejects(watch.next(), { name: 'ClosedError' });
  });
}

test('watch of what is no namespace is of the servers that the client was given', { timeout: 300_000 }, async () => {
  place({ orders: 'b' });
  const [atA, atB, tables] = [a.asked.length, b.asked.length, a.tablesAsked + b.tablesAsked];
  const client = new Client(addresses.a[0] ?? '');
  const watch = client.watch({ prefix: 'orders' });
  assert.equal(await next(watch), 'snapshotEnd');
  assert.deepEqual([a.asked.length, b.asked.length, a.tablesAsked + b.tablesAsked], [atA + 1, atB, tables]);
  await client.close();
  await assert.rejects(watch.next(), { name: 'ClosedError' });
});
