/** Several shards: a client that knows one of them finds the others. On servers in memory. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, ClosedError, LockLostError, NotAcquiredError, RequestRefusedError, type ClientOptions } from 'lockkeeper';
import { FakeServer } from 'lockkeeper/testing';
import { inside, isNotAcquired } from './inside.js';
import { queued } from './queued.js';
import { has, sizeOf, TwoShards } from './shard-servers.js';

const limit = { timeout: 300_000 };
const keep = { keepUnused: 60_000 };

let shards: TwoShards;
let clients: Client[] = [];

function client(options: ClientOptions = {}, address = shards.a.address): Client {
  const made = new Client(address, options);
  clients.push(made);
  return made;
}

beforeEach(async () => {
  shards = await TwoShards.start();
});
afterEach(async () => {
  await Promise.all(clients.map((each) => each.close()));
  clients = [];
  shards.close();
});

function isRefused(reason: string): (error: unknown) => boolean {
  return (error) => error instanceof RequestRefusedError && error.reason === reason;
}

/** Waits until something is so. */
async function until(so: () => boolean): Promise<void> {
  while (!so()) {
    await sleep(5);
  }
}

test('nobody is asked for a table where nothing is refused', limit, async () => {
  const one = client();
  await (await one.lock('orders/1')).release();
  await one.getLock('orders/1');
  const alone = await FakeServer.start();
  const other = client({}, alone.address);
  await (await other.lock('stock/1')).release();
  assert.deepEqual([shards.a.tablesAsked, shards.b.tablesAsked, has(shards.b).leases, alone.tablesAsked, alone.received], [0, 0, 0, 0, 2]);
  await other.close();
  alone.close();
});

test('request goes on at the shard that serves its namespace, and the next one goes straight there', limit, async () => {
  const heard: string[] = [];
  const one = client({ observer: { acquiring: () => ({ acquired: () => heard.push('acquired'), notAcquired: () => heard.push('not acquired') }) } });
  const first = await one.lock('stock/1');
  assert.deepEqual([shards.a.received, shards.b.received, shards.a.tablesAsked, shards.b.tablesAsked], [1, 1, 1, 0]);
  const second = await one.lock('stock/2');
  const hashed = await Promise.all(Array.from({ length: 20 }, (_, i) => one.lock(`n${String(i)}`)));
  assert.deepEqual([shards.a.received + shards.b.received, shards.a.tablesAsked, shards.b.tablesAsked], [23, 1, 0]);
  assert.ok(shards.b.received > 2 && shards.a.received > 1);
  assert.ok([first, second, ...hashed].every((lock) => lock.valid));
  assert.deepEqual(new Set(heard), new Set(['acquired']));
  assert.deepEqual([has(shards.a).leases, has(shards.b).leases], [1, 1]);
});

test('one question for the table is enough for all that are refused', limit, async () => {
  const one = client();
  const locks = await Promise.all(Array.from({ length: 50 }, (_, i) => one.lock(`stock/${String(i)}`)));
  assert.ok(locks.every((lock) => lock.valid));
  assert.deepEqual([shards.a.tablesAsked, has(shards.b)], [1, { leases: 1, requests: 50 }]);
});

test('lease at the servers that the client was given is that of their shard', limit, async () => {
  const [one, other] = [client(), client({}, shards.b.address)];
  const before = await one.lock('orders/1', { owner: 'o' });
  await one.lock('stock/1');
  const again = await one.lock('orders/1', { owner: 'o' });
  assert.equal(again.fencingToken, before.fencingToken);
  assert.deepEqual([has(shards.a).leases, has(shards.b).leases], [1, 1]);
  await other.lock('orders/2');
  assert.equal(shards.b.tablesAsked, 1);
});

test('lost lease at one shard leaves the locks of the other', limit, async () => {
  const one = client();
  const orders = await one.lock('orders/1');
  const stock = await one.lock('stock/1');
  shards.a.expireLeases();
  await once(orders.signal, 'abort');
  assert.ok(orders.signal.reason instanceof LockLostError);
  assert.ok(!orders.valid && stock.valid);
  assert.ok((await one.lock('orders/1')).fencingToken > orders.fencingToken);
  shards.b.expireLeases();
  await once(stock.signal, 'abort');
  assert.ok((await one.lock('stock/1')).valid);
});

test('client that is closed ends its leases at all shards', limit, async () => {
  const one = client();
  const [orders, stock] = [await one.lock('orders/1'), await one.lock('stock/1')];
  await one.close();
  assert.ok(!orders.valid && !stock.valid);
  assert.deepEqual([has(shards.a).leases, has(shards.b).leases], [0, 0]);
});

test('try follows, and ends as timed out where the namespace is moving', limit, async () => {
  const one = client();
  assert.ok((await one.tryLock('stock/1'))?.valid);
  assert.equal(await client({}, shards.a.address).tryLock('stock/1'), undefined);
  shards.place({ moves: { stock: 'a' } });
  assert.equal(await one.tryLock('stock/2'), undefined);
  await one.lock('orders/1');
  // Each says that it is of the other.
  shards.a.becomeShard('a', shards.table({ namespaces: { orders: 'b' } }));
  shards.b.becomeShard('b', shards.table({ namespaces: { orders: 'a' } }));
  const before = shards.a.received + shards.b.received;
  assert.equal(await one.tryLock('orders/2'), undefined);
  assert.ok(shards.a.received + shards.b.received <= before + 3);
});

test('wait limit counts over all shards', limit, async () => {
  const [one, other] = [client(), client()];
  const held = await other.lock('stock/1');
  const queue = new EventEmitter();
  const began = performance.now();
  const waiting = one.lock('stock/1', { wait: 1500, onQueued: () => queue.emit('entered') });
  const asking = performance.now();
  await once(queue, 'entered');
  const { core } = one as unknown as {
    core: { router: { places: { keeper: { lease: { acquisitions: Map<string, { giveUp: number; state: string }> } } }[] } };
  };
  const [asked] = [...(core.router.places[1]?.keeper.lease.acquisitions.values() ?? [])];
  assert.ok(asked !== undefined && asked.giveUp >= began + 1500 && asked.giveUp <= asking + 1500);
  await assert.rejects(waiting, isNotAcquired('TIMED_OUT'));
  // No shard serves it for longer than that.
  shards.b.becomeShard('b', shards.table({ namespaces: { stock: 'a' } }));
  await assert.rejects(one.lock('stock/2', { wait: 300 }), isNotAcquired('TIMED_OUT'));
  assert.ok(held.valid);
  assert.deepEqual(sizeOf(one), { size: 0, between: 0 });
});

test('request is asked again while its namespace is moving', limit, async () => {
  const one = client();
  await one.lock('orders/1');
  shards.place({ moves: { orders: 'b' } });
  const before = shards.a.received;
  const waiting = one.lock('orders/2', { wait: 30_000 });
  await until(() => shards.a.received >= before + 3);
  assert.equal(shards.a.tablesAsked, 0);
  shards.place({ namespaces: { orders: 'b' } });
  assert.ok((await waiting).valid);
  assert.deepEqual([has(shards.a).requests, has(shards.b).requests, shards.a.tablesAsked], [1, 1, 1]);
});

test('who waits when the namespace begins to move has its lock at the other shard, within its wait limit', limit, async () => {
  const [one, other] = [client(), client()];
  const held = await other.lock('orders/1');
  const [waiting] = await queued(one, 'orders/1', { wait: 30_000 });
  const [short] = await queued(one, 'orders/1', { wait: 1500 });
  shards.place({ moves: { orders: 'b' } });
  await assert.rejects(short ?? sleep(0), isNotAcquired('TIMED_OUT'));
  assert.ok(held.valid);
  await held.release();
  shards.place({ namespaces: { orders: 'b' } });
  const lock = await waiting;
  assert.ok(lock?.valid);
  assert.deepEqual([has(shards.a).requests, has(shards.b).requests], [0, 1]);
});

test('owner that holds a lock is granted it once more while the namespace moves', limit, async () => {
  const one = client();
  const held = await one.lock('orders/1', { owner: 'o' });
  shards.place({ moves: { orders: 'b' } });
  assert.equal((await one.lock('orders/1', { owner: 'o' })).fencingToken, held.fencingToken);
});

test('shard that refuses what the table gives it is asked again after a pause', limit, async () => {
  const one = client();
  const table = shards.table({ namespaces: { stock: 'b', late: 'b' } });
  shards.b.becomeShard('b', shards.table({ namespaces: { late: 'a' } })); // still says that it is of a
  shards.a.becomeShard('a', { ...table, version: ++shards.version });
  const began = performance.now();
  const waiting = one.lock('late/1');
  await until(() => shards.b.tablesAsked > 0); // it has an older one
  shards.b.becomeShard('b', { ...table, version: ++shards.version });
  assert.ok((await waiting).valid);
  assert.ok(performance.now() - began >= 1000);
  assert.deepEqual([shards.a.received, shards.b.received], [1, 2]);
});

test('where there is no table in time, the shard that the refusal names is asked, and for that namespace only', limit, async () => {
  shards.a.showsTable = false;
  const one = client({ requestTimeout: 2000 });
  await one.lock('stock/1');
  const asked = shards.a.tablesAsked;
  assert.deepEqual([asked > 0, shards.a.received, shards.b.received], [true, 1, 1]);
  await one.lock('stock/2');
  assert.deepEqual([shards.a.tablesAsked, shards.a.received, shards.b.received], [asked, 1, 2]);
  await one.lock('orders/1');
  assert.deepEqual([shards.a.tablesAsked, shards.a.received, shards.b.received], [asked, 2, 2]);
  // Asked of the other shard, the table says which one the first is: there is no second lease.
  shards.a.showsTable = true;
  shards.place({ namespaces: { stock: 'a' } });
  await one.lock('stock/4');
  assert.deepEqual([shards.b.tablesAsked, shards.a.tablesAsked, has(shards.a).leases, has(shards.b).leases], [1, asked + 1, 1, 1]);
});

test('word of a shard that is newer than the table says nothing of the other locks of a request', limit, async () => {
  const one = client({ requestTimeout: 2000 });
  shards.place({ namespaces: { stock: 'a', blue: 'a', orders: 'b' } });
  await one.lock('orders/1');
  await assert.rejects(one.lock(['blue/1', 'orders/2']), isRefused('ACROSS_SHARDS'));
  shards.a.showsTable = false;
  shards.place({ namespaces: { stock: 'b', blue: 'b' } });
  await one.lock('stock/1');
  assert.ok((await one.lock(['blue/1', 'stock/2'])).valid);
});

test('namespace that the table leaves out is where its shard says', limit, async () => {
  shards.place({ namespaces: { hidden: 'b' }, hashed: ['a'] });
  const { shard } = shards.a as unknown as { shard: { message: () => { namespaces: { namespace: string }[] } } };
  const whole = shard.message();
  shard.message = () => ({ ...whole, namespaces: whole.namespaces.filter((each) => each.namespace !== 'hidden') });
  const one = client();
  await one.lock('hidden/1');
  await one.lock('hidden/2');
  await one.lock('unnamed/1');
  assert.deepEqual([shards.a.received, shards.b.received, shards.a.tablesAsked, shards.b.tablesAsked], [2, 2, 1, 0]);
});

test('try and a call have time left for the other shard where no table comes', limit, async () => {
  shards.a.showsTable = false;
  assert.ok((await client({ requestTimeout: 3000 }).tryLock('stock/1'))?.valid);
  assert.equal((await client({ requestTimeout: 3000 }).getLock('stock/1')).holders.length, 1);
});

test('older word of a shard does not count against a newer one', limit, async () => {
  shards.a.showsTable = shards.b.showsTable = false;
  const one = client({ requestTimeout: 3000 });
  shards.b.becomeShard('b', { ...shards.table({ namespaces: { stock: 'a' } }), version: 1 }); // it has not heard of it yet
  shards.a.becomeShard('a', shards.table({}));
  const waiting = one.lock('stock/1');
  await until(() => shards.b.received >= 2);
  assert.equal(shards.a.received, 1);
  shards.b.becomeShard('b', shards.table({}));
  assert.ok((await waiting).valid);
  assert.equal(shards.a.received, 1);
});

test('request that is withdrawn, or whose client is closed, while the table is asked for ends', limit, async () => {
  shards.a.showsTable = false;
  const [one, other] = [client(), client()];
  const abort = new AbortController();
  const why = new Error('no time');
  const withdrawn = assert.rejects(one.lock('stock/1', { signal: abort.signal }), why);
  await until(() => sizeOf(one).between === 1);
  abort.abort(why);
  await withdrawn;
  const closed = assert.rejects(other.lock('stock/1'), ClosedError);
  await until(() => sizeOf(other).between === 1);
  await other.close();
  await closed;
  assert.deepEqual(
    [sizeOf(one), sizeOf(other), has(shards.a).requests, has(shards.b)],
    [{ size: 0, between: 0 }, { size: 0, between: 0 }, 0, { leases: 0, requests: 0 }],
  );
});

test('table that is too large counts as none', limit, async () => {
  const namespaces = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`n${String(i)}`, 'a']));
  shards.a.becomeShard('a', shards.table({ namespaces }));
  const one = client();
  await one.lock('stock/1');
  await one.lock('more/1');
  assert.ok(shards.a.tablesAsked >= 1);
  assert.equal((one as unknown as { core: { router: { table: unknown } } }).core.router.table, undefined);
});

test('locks of several shards in one request are refused by name', limit, async () => {
  const one = client();
  const both = ['orders/1', 'stock/1'];
  await assert.rejects(one.lock(both), isRefused('ACROSS_SHARDS')); // by the server
  await one.lock('stock/2');
  const before = [shards.a.received, shards.b.received];
  await assert.rejects(one.lock(both), (error) => isRefused('ACROSS_SHARDS')(error) && String(error).includes('"orders/1" and "stock/1"'));
  await assert.rejects(one.watch(both).next(), isRefused('ACROSS_SHARDS'));
  assert.deepEqual([shards.a.received, shards.b.received], before);
  assert.ok((await one.lock(['stock/3', 'stock/4'])).valid);
  assert.ok((await one.lock(['orders/3', 'orders/4'])).valid);
});

test('request that is withdrawn between two shards ends, and leaves nothing', limit, async () => {
  const one = client();
  await one.lock('stock/1');
  shards.b.becomeShard('b', shards.table({ namespaces: { stock: 'a' } })); // a does not know it
  const abort = new AbortController();
  const why = new Error('no time');
  const waiting = assert.rejects(one.lock('stock/2', { signal: abort.signal }), why);
  await until(() => sizeOf(one).between === 1);
  assert.equal(sizeOf(one).size, 2);
  abort.abort(why);
  await waiting;
  assert.deepEqual(sizeOf(one), { size: 1, between: 0 });
  assert.deepEqual([has(shards.a).requests, has(shards.b).requests], [0, 1]);
});

test('request that is withdrawn at the second shard leaves its queue', limit, async () => {
  const [one, other] = [client(), client()];
  const held = await other.lock('stock/1');
  const abort = new AbortController();
  const [waiting] = await queued(one, 'stock/1', { signal: abort.signal });
  abort.abort();
  await assert.rejects(waiting ?? sleep(0), { name: 'AbortError' });
  await until(() => has(shards.b).requests === 1);
  assert.ok(held.valid);
  assert.equal(sizeOf(one).between, 0);
});

test('client that is closed ends what is between two shards', limit, async () => {
  const one = client();
  await one.lock('stock/1');
  shards.b.becomeShard('b', shards.table({ namespaces: { stock: 'a' } }));
  const waiting = assert.rejects(one.lock('stock/2'), ClosedError);
  const reading = assert.rejects(one.getLock('stock/2'), ClosedError);
  await until(() => sizeOf(one).between === 1);
  await one.close();
  await Promise.all([waiting, reading]);
  assert.deepEqual([has(shards.a).leases, has(shards.b).leases, sizeOf(one).between], [0, 0, 0]);
});

test('lock is kept at a second shard, and costs no message there', limit, async () => {
  const one = client();
  const lock = await one.lock('stock/1', keep);
  await lock.release();
  const before = [shards.a.received, shards.b.received];
  for (let i = 0; i < 10; i++) {
    const again = await one.lock('stock/1', keep);
    assert.equal(again.fencingToken, lock.fencingToken);
    await again.release();
  }
  assert.deepEqual([shards.a.received, shards.b.received], before);
  assert.deepEqual([has(shards.a).requests, has(shards.b).requests], [0, 1]);
});

test('those who wait in the client for a kept lock go along in their order', limit, async () => {
  const one = client();
  const order: number[] = [];
  const waiting = Array.from({ length: 10 }, async (_, i) => {
    const lock = await one.lock('stock/1', keep);
    order.push(i);
    await lock.release();
    return lock.fencingToken;
  });
  const tokens = new Set(await Promise.all(waiting));
  assert.deepEqual(
    order,
    order.map((_, i) => i),
  );
  assert.equal(tokens.size, 1);
  assert.deepEqual([shards.a.received, shards.b.received], [1, 1]);
});

test('those who wait in the client for a kept lock when its namespace moves have it at the other shard', limit, async () => {
  const [one, other] = [client(), client()];
  const held = await other.lock('orders/1');
  const [first] = await queued(one, 'orders/1', keep);
  const others = Array.from({ length: 5 }, () => one.lock('orders/1', keep));
  shards.place({ moves: { orders: 'b' } });
  await held.release();
  shards.place({ namespaces: { orders: 'b' } });
  const tokens: bigint[] = [];
  for (const waiting of [first, ...others]) {
    const lock = await waiting;
    tokens.push(lock?.fencingToken ?? 0n);
    await lock?.release();
  }
  assert.equal(new Set(tokens).size, 1);
  assert.deepEqual([has(shards.a).requests, has(shards.b).requests, inside(one).waiting, inside(one).lines], [0, 1, 0, 0]);
});

test('unused locks are counted over all shards', limit, async () => {
  const one = client();
  await (await one.lock('stock/0', keep)).release();
  const { count } = (one as unknown as { core: { router: { places: { keeper: { count: { unused: number } } }[] } } }).core.router.places[0]?.keeper ?? {
    count: { unused: 0 },
  };
  assert.equal(count.unused, 1);
  await Promise.all(Array.from({ length: 1010 }, async (_, i) => (await one.lock(`${i % 2 === 0 ? 'orders' : 'stock'}/${String(i)}`, keep)).release()));
  assert.equal(count.unused, 1000);
  await until(() => has(shards.a).requests + has(shards.b).requests === 1000);
  shards.a.expireLeases();
  await until(() => count.unused === has(shards.b).requests);
});

test('reads go to the shard of the namespace', limit, async () => {
  const [one, other] = [client(), client()];
  const lock = await one.lock('stock/1');
  await one.lock('orders/1');
  assert.equal((await other.getLock('stock/1')).holders[0]?.fencingToken, lock.fencingToken);
  assert.equal(shards.a.tablesAsked, 2); // once by each of them
  const names = async (prefix: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const lock of other.listLocks(prefix)) {
      found.push(lock.name);
    }
    return found;
  };
  assert.deepEqual(await names('stock/'), ['stock/1']);
  assert.deepEqual(await names('orders/'), ['orders/1']);
  assert.deepEqual(await names(''), ['orders/1']); // of the servers that it was given
  assert.deepEqual(await names('stock'), []);
  assert.equal(shards.a.tablesAsked, 2);
});

test('refusal that says nothing of who serves it is told', limit, async () => {
  shards.a.becomeShard('a', { ...shards.table({}), shards: { a: [shards.a.address], b: [] } }); // no table that is as the contract says
  await assert.rejects(client().lock('stock/1'), (error) => isRefused('WRONG_SHARD')(error) && !(error instanceof NotAcquiredError));
  await assert.rejects(client().getLock('stock/1'), isRefused('WRONG_SHARD'));
});
