/** Those who wait in the client for what others in it use, or ask for: on the server in memory, where a test says when. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, ClosedError, LeaseLostError, exclusive, permits, type ClientOptions, type Lock, type LockOptions } from 'lockkeeper';
import { FakeServer } from 'lockkeeper/testing';
import { endTurns, inside, isNotAcquired, longTurns } from './inside.js';
import { queued } from './queued.js';

const limit = { timeout: 300_000 };
const keep = { keepUnused: 60_000 };
const nothing = { lines: 0, owners: 0, waiting: 0, unused: 0, timers: [] };

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

/** Keeps the event loop from running timers. */
function block(millis: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis);
}

async function queueOf(length: number): Promise<void> {
  const observer = client();
  while ((await observer.getLock('a')).queueLength !== length) {
    await sleep(10);
  }
}

/** Holds a lock for a moment; returns its token. */
async function use(lock: Promise<Lock> | undefined, order: string[] = [], name = ''): Promise<bigint> {
  const held = await lock;
  order.push(name);
  await held?.release();
  return held?.fencingToken ?? 0n;
}

test('next one asks when the time of the one that asks is over, or it is withdrawn', limit, async () => {
  const [one, other] = [client(), client()];
  const held = await other.lock('a');
  const abort = new AbortController();
  const [first] = await queued(one, 'a', { ...keep, wait: 2000 });
  const second = one.lock('a', { ...keep, signal: abort.signal });
  const third = one.lock('a', keep);
  const withdrawn = one.lock('a', { ...keep, signal: abort.signal });
  await assert.rejects(first ?? sleep(0), isNotAcquired('TIMED_OUT'));
  assert.equal(inside(one).waiting, 2);
  await queueOf(1);
  const messages = server.received;
  abort.abort();
  await Promise.all([assert.rejects(second), assert.rejects(withdrawn)]);
  assert.equal(inside(one).waiting, 0);
  while (server.received < messages + 2) {
    // a withdrawal, and the one that asks now
    await sleep(10);
  }
  await queueOf(1);
  assert.equal(server.received, messages + 2);
  await held.release();
  await (await third).release();
  server.requestRelease('a');
  await (await other.lock('a')).release();
  assert.deepEqual(inside(one), nothing);
});

test('next one asks when no server has answered the one that asks', limit, async () => {
  const one = client({ requestTimeout: 3000 });
  await (await one.lock('b')).release();
  server.freeze();
  const first = assert.rejects(one.lock('a', { ...keep, wait: 100 }), isNotAcquired('TIMED_OUT'));
  const second = one.lock('a', keep);
  await first;
  server.thaw();
  await (await second).release();
});

test('those who waited when it was granted have their turns if others want it, then go before those who came later', limit, async () => {
  const [one, other] = [client(), client()];
  const held = await other.lock('a');
  const [asks] = await queued(one, 'a', keep);
  longTurns(one);
  const next = one.lock('a', keep);
  const order: string[] = [];
  const late = use(one.lock('a', keep), order, 'late');
  const [wants] = await queued(other, 'a');
  const theirs = use(wants, order, 'theirs');
  await held.release();
  const first = await asks;
  assert.equal(first?.grants[0]?.waiters, 1);
  const [later] = await queued(one, 'a', keep);
  const asker = use(later, order, 'later');
  const last = use(one.lock('a', keep), order, 'last');
  await queueOf(2);
  await first.release();
  const second = await next;
  assert.equal(second.fencingToken, first.fencingToken);
  endTurns(one);
  assert.ok(second.valid);
  await second.release();
  const tokens = await Promise.all([theirs, asker, late, last]);
  assert.deepEqual(order, ['theirs', 'later', 'late', 'last']);
  assert.ok(tokens[0] > first.fencingToken && tokens[1] > tokens[0]);
  assert.deepEqual(tokens.slice(2), [tokens[1], tokens[1]]);
});

test('nobody is granted it after the wait limit, though no timer has run', limit, async () => {
  const [one, other] = [client(), client()];
  const held = await one.lock('a', keep);
  const tooLate = assert.rejects(one.lock('a', { ...keep, wait: 50 }), isNotAcquired('TIMED_OUT'));
  const next = one.lock('a', keep);
  block(100);
  await held.release();
  await tooLate;
  assert.equal((await next).fencingToken, held.fencingToken);
  await (await next).release();
  const theirs = await other.lock('a');
  const abort = new AbortController();
  const [asks] = await queued(one, 'a', { ...keep, signal: abort.signal });
  const late = assert.rejects(one.lock('a', { ...keep, wait: 50 }), isNotAcquired('TIMED_OUT'));
  const messages = server.received;
  block(100);
  abort.abort();
  await Promise.all([assert.rejects(asks ?? sleep(0)), late, queueOf(0)]);
  assert.equal(server.received, messages + 1); // the withdrawal
  await theirs.release();
});

test('requests of one owner that come together are granted together', limit, async () => {
  const [one, other] = [client(), client()];
  const owned = { ...keep, owner: 'o' };
  const held = await other.lock('a');
  const order: string[] = [];
  const both = Promise.all([one.lock('a', owned), one.lock('a', owned)]);
  const between = one.lock('a', keep);
  const again = Promise.all([
    one.lock('a', { ...keep, owner: 'another' }),
    use(one.lock('a', keep), order, 'after'),
    one.lock('a', { ...keep, owner: 'another' }),
  ]);
  await held.release();
  const [outer, inner] = await both;
  assert.deepEqual(
    [outer, inner].map(({ fencingToken, grants }) => [fencingToken, grants[0]?.holdCount, grants[0]?.previousEnd]),
    [
      [outer.fencingToken, 1, 'UNSPECIFIED'],
      [outer.fencingToken, 2, 'RELEASED'],
    ],
  );
  assert.equal((await inner.release()).outcome, 'DECREMENTED');
  assert.equal((await outer.release()).outcome, 'RELEASED');
  order.push('between');
  await (await between).release();
  const levels = await Promise.race([again, sleep(200)]);
  assert.equal(levels, undefined); // the one after them waits for both
  assert.deepEqual(order, ['between']);
});

test('owner whose levels are granted together lets the next one have it with the last release', limit, async () => {
  const one = client();
  const held = await one.lock('a', keep);
  const levels = [one.lock('a', { ...keep, owner: 'o' }), one.lock('a', { ...keep, owner: 'o' })];
  const next = one.lock('a', keep);
  await held.release();
  const [outer, inner] = await Promise.all(levels);
  assert.deepEqual(await outer?.release(), { outcome: 'DECREMENTED', remainingHolds: 1 });
  assert.deepEqual(await inner?.release(), { outcome: 'RELEASED', remainingHolds: 0 });
  assert.equal(await use(next), held.fencingToken);
  assert.equal(inside(one).owners, 0);
});

test('owner that would wait for its own permits is refused', limit, async () => {
  const one = client();
  const owned = { ...keep, owner: 'o' };
  const mixed = [exclusive('a'), permits('p', 1, 5)];
  const first = one.lock(mixed, owned);
  await assert.rejects(one.lock(mixed, owned), isNotAcquired('WOULD_DEADLOCK')); // made together
  await assert.rejects(one.lock(mixed, owned), isNotAcquired('WOULD_DEADLOCK'));
  const other = use(one.lock(mixed, { ...keep, owner: 'another' }));
  await (await first).release();
  assert.equal(await other, (await first).fencingToken);
});

test('owner that has come to hold it meanwhile is refused when it would ask', limit, async () => {
  const one = client();
  const owner = 'o';
  const held = await one.lock('a', keep);
  const [plain] = await queued(one, 'a', { owner });
  const abort = new AbortController();
  const [asks] = await queued(one, 'a', { ...keep, signal: abort.signal });
  const waits = assert.rejects(one.lock('a', { ...keep, owner }), isNotAcquired('WOULD_DEADLOCK'));
  const after = one.lock('a', keep);
  await held.release();
  const own = await plain;
  abort.abort();
  await Promise.all([assert.rejects(asks ?? sleep(0)), waits]);
  await own?.release();
  await (await after).release();
});

test('hold that is granted anew after a resume tells of those who wait', limit, async () => {
  const one = client();
  const told: string[] = [];
  const telling = (who: string): LockOptions => ({ onContended: ({ name, waiters }) => told.push(`${who}: ${name} ${String(waiters)}`) });
  await (await one.lock('a', keep)).release();
  const used = await one.lock('b', { ...keep, ...telling('used') });
  const plain = await one.lock('c', telling('plain'));
  for (let i = 0; i < 5; i++) {
    server.disconnect(); // the pauses before the next stream grow
    await (await one.lock('d')).release();
  }
  server.disconnect();
  const other = client();
  const waiting = await Promise.all(['a', 'b', 'c'].map((name) => queued(other, name)));
  assert.deepEqual(told, []);
  await use(waiting[0]?.[0]);
  assert.deepEqual(told, ['used: b 1', 'plain: c 1']);
  await Promise.all([used.release(), plain.release()]);
  await Promise.all([use(waiting[1]?.[0]), use(waiting[2]?.[0])]);
});

test('end of the lease is the end of all who wait, however many', limit, async () => {
  for (const [end, error] of [
    [
      (): void => {
        server.expireLeases();
      },
      LeaseLostError,
    ],
    [(one: Client): Promise<void> => one.close(), ClosedError],
  ] as const) {
    const one = client();
    const held = await one.lock('a'); // and somebody at the server waits for it
    const waiting = Array.from({ length: 9000 }, () => assert.rejects(one.lock('a', keep), error));
    await queueOf(1);
    await end(one);
    await Promise.all(waiting);
    assert.equal(held.lostReason, error === ClosedError ? 'LEASE_CLOSED' : 'EXPIRED');
  }
});
