/** What becomes of locks that are kept when something happens: on the server in memory, where a test says when. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, LockLostError, permits, read, type ClientOptions, type Lock, type LockOptions } from 'lockkeeper';
import { FakeServer } from 'lockkeeper/testing';
import { inside, isNotAcquired, longTurns } from './inside.js';

const limit = { timeout: 300_000 };
const keep = { keepUnused: 60_000 };

let server: FakeServer;
let clients: Client[] = [];

function client(options: ClientOptions = {}): Client {
  const made = new Client(server.address, { ttl: 3_600_000, ...options }); // a process that stands still loses no lease
  clients.push(made);
  return made;
}

beforeEach(async () => {
  server = await FakeServer.start();
});
afterEach(async () => {
  server.thaw();
  await Promise.all(clients.map((each) => each.close()));
  clients = [];
  server.close();
});

async function cycle(one: Client, options: LockOptions = keep): Promise<bigint> {
  const lock = await one.lock('a', options);
  await lock.release();
  return lock.fencingToken;
}

async function lost(lock: Lock): Promise<string> {
  if (!lock.signal.aborted) {
    await once(lock.signal, 'abort');
  }
  assert.ok(lock.signal.reason instanceof LockLostError);
  return lock.signal.reason.reason;
}

/** Waits until nobody holds the lock, without wanting it. */
async function free(name = 'a'): Promise<void> {
  while ((await client().getLock(name)).holders.length > 0) {
    await sleep(10);
  }
}

test('what is kept is used without a message and without another timer', limit, async () => {
  const one = client();
  const token = await cycle(one, { ...keep, owner: 'o' });
  const [messages, before] = [server.received, inside(one)];
  assert.equal(messages, 1);
  for (let i = 0; i < 100; i++) {
    assert.equal(await cycle(one, { ...keep, owner: `o${String(i)}`, holder: 'another', metadata: { step: '2' } }), token);
  }
  assert.equal(server.received, messages);
  assert.equal(before.timers.length, 1);
  const { timers } = inside(one);
  assert.ok(timers.length === 1 && timers[0] === before.timers[0]);
});

test('nothing is left of what is not kept any more', limit, async () => {
  const one = client();
  const held = await one.lock('a', { ...keep, owner: 'o' });
  const abort = new AbortController();
  const withdrawn = assert.rejects(one.lock('a', { ...keep, signal: abort.signal }), { name: 'AbortError' });
  const timedOut = assert.rejects(one.lock('a', { ...keep, wait: 50 }), isNotAcquired('TIMED_OUT'));
  const next = one.lock('a', { ...keep, wait: 60_000 });
  assert.deepEqual([inside(one).waiting, inside(one).timers.length], [3, 2]);
  abort.abort();
  await Promise.all([withdrawn, timedOut]);
  assert.equal(inside(one).waiting, 1);
  await held.release();
  await (await next).release();
  await (await one.lock(read('b'), keep)).release();
  assert.deepEqual([inside(one).lines, inside(one).unused], [2, 2]);
  server.requestRelease('a');
  server.requestRelease('b');
  await Promise.all([free('a'), free('b')]);
  assert.deepEqual(inside(one), { lines: 0, owners: 0, waiting: 0, unused: 0, timers: [] });
});

test('each user is counted', limit, async () => {
  const counted: string[] = [];
  const count = (what: string) => (): void => {
    counted.push(what);
  };
  const observation = { acquired: count('acquired'), released: count('released'), lost: count('lost'), notAcquired: count('not acquired') };
  const one = client({ observer: { acquiring: () => observation } });
  await cycle(one);
  const lock = await one.lock('a', keep);
  await assert.rejects(one.lock('a', { ...keep, wait: 0 }));
  server.lose('a');
  await lost(lock);
  assert.deepEqual(counted, ['acquired', 'released', 'acquired', 'not acquired', 'lost']);
});

test('users are told that others want it, at their wish', limit, async () => {
  const [one, other] = [client(), client()];
  const told: string[] = [];
  const use = async (who: string, options: LockOptions): Promise<void> => {
    const lock = await one.lock('a', {
      ...keep,
      onContended: ({ waiters }) => {
        told.push(`${who}: ${String(waiters)}`);
        if (who === 'first') {
          void lock.release(); // the second hears it with its grant
        }
      },
      ...options,
    });
    if (who !== 'first') {
      assert.equal(lock.grants[0]?.waiters, 1);
      await new Promise(setImmediate);
      await lock.release();
    }
  };
  await use('first', {});
  longTurns(one);
  const users = [use('second', {}), use('third', { notifyContention: false })];
  await (await other.lock('a')).release();
  await Promise.all(users);
  assert.deepEqual(told, ['first: 1', 'second: 1']);
});

test('users are told that somebody asks them to give way, who come later too', limit, async () => {
  const one = client();
  const told: string[] = [];
  const telling = (who: string): LockOptions => ({ ...keep, onReleaseRequested: ({ requester }) => told.push(`${who}: ${requester}`) });
  const held = await one.lock('a', {
    ...keep,
    onReleaseRequested: () => {
      void held.release();
    },
  });
  longTurns(one);
  const next = one.lock('a', telling('second'));
  server.requestRelease('a', 'anna');
  assert.equal((await next).fencingToken, held.fencingToken);
  await (await next).release();
  await (await one.lock('a', telling('third'))).release();
  assert.deepEqual(told, ['second: anna']);
});

test('jeopardy and a wish of somebody to have it end the keeping', limit, async () => {
  const one = client();
  for (const want of [
    () => {
      server.jeopardize();
    },
    () => {
      server.requestRelease('a');
    },
  ]) {
    await cycle(one);
    want();
    await free();
  }
  longTurns(one);
  const told: number[] = [];
  const held = await one.lock('a', {
    ...keep,
    onJeopardy: () => {
      void held.release();
    },
  });
  const next = one.lock('a', { ...keep, onJeopardy: (validFor) => told.push(validFor) });
  server.jeopardize(60_000);
  assert.equal((await next).fencingToken, held.fencingToken);
  await new Promise(setImmediate);
  assert.ok(told.length === 1 && (await next).remaining <= 60_000);
  await (await next).release();
  await free();
});

test('forgotten client gives back what it keeps', limit, async () => {
  const code = `import { Client } from 'lockkeeper';
    await (async () => {
      const client = new Client('${server.address}', { ttl: 3_600_000 });
      await (await client.lock('a', { keepUnused: 3_600_000, onLost: () => client.leaseTag })).release();
    })();
    const other = new Client('${server.address}');
    while ((await other.getLock('a')).holders.length > 0) { await new Promise(setImmediate); globalThis.gc(); }
    await other.close();`;
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', code], { cwd: import.meta.dirname, stdio: 'inherit' });
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('owner that would wait for itself is refused', limit, async () => {
  const one = client();
  const owner = 'o';
  const kept = await one.lock(['a', read('b')], { ...keep, owner });
  const alike = await one.lock(['a', read('b')], { owner });
  assert.equal(alike.fencingToken, kept.fencingToken);
  await alike.release();
  const refused = isNotAcquired('WOULD_DEADLOCK');
  await assert.rejects(one.lock('a', { ...keep, owner }), refused);
  await assert.rejects(one.lock('a', { owner }), refused);
  await assert.rejects(one.lock('b', { owner }), refused);
  await assert.rejects(one.lock(['a', read('b')], { owner, maxHold: 1000 }), refused);
  await (await one.lock(read('b'), { owner })).release();
  await assert.rejects(one.lock('a', { ...keep, owner: 'another', wait: 0 }), isNotAcquired('TIMED_OUT'));
  await kept.release();
  const plain = await one.lock('c', { owner });
  await assert.rejects(one.lock('c', { ...keep, owner }), refused);
  await plain.release();
  const permit = await one.lock(permits('d', 1, 2), { ...keep, owner });
  await (await one.lock(permits('d', 1, 2), { ...keep, owner })).release(); // takes its own
  assert.equal((await client().getLock('d')).holders.length, 2);
  await permit.release();
});

test('a thousand locks are kept unused, and no more', limit, async () => {
  const one = client();
  const locks = await Promise.all(Array.from({ length: 1001 }, (_, i) => one.lock(`many/${String(i)}`, keep)));
  await Promise.all(locks.map((lock) => lock.release()));
  const { unused, lines } = inside(one);
  assert.deepEqual([unused, lines], [1000, 1000]);
  await free('many/1000');
});

test('what is out of range, or cannot go together, is refused before anything is sent', async () => {
  const one = client();
  const says = (words: RegExp) => (error: unknown) => error instanceof RangeError && words.test(error.message);
  await assert.rejects(one.lock('a', { keepUnused: 99 }), says(/keepUnused must be 100 to 3600000, not 99/));
  await assert.rejects(one.lock('a', { keepUnused: 3_600_001 }), says(/keepUnused/));
  await assert.rejects(one.lock('a', { ...keep, maxHold: 1000 }), says(/keepUnused and maxHold/));
  await assert.rejects(one.election('a').campaign('me', keep), says(/keepUnused/));
  await assert.rejects(
    one.election('a').run('me', () => undefined, keep),
    says(/keepUnused/),
  );
  assert.equal(server.received, 0);
});
