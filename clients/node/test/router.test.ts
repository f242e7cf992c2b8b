/** What a client knows of shards, where it was told of many. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { errors, router, shardMessages } from './internals.js';

type RouterInit = ConstructorParameters<typeof router.Router>;

const UNREACHABLE: RouterInit[0] = [{ host: '127.0.0.1', port: 1 }];
const transport = { tls: false, ca: undefined, certificate: undefined, key: undefined, token: undefined };

/** What a shard says of the namespace `orders`, by a table of that version. */
function elsewhere(id: string, version: number): Error {
  const said = { namespace: 'orders', shard: { id, addresses: [`${id}:7420`] }, tableVersion: BigInt(version) };
  return new errors.WrongShardError('elsewhere', 9, create(shardMessages.WrongShardSchema, said));
}

const ORDERS = [{ name: 'orders/1' }];

test('request that may not wait follows twice', { timeout: 300_000 }, async () => {
  const known = new router.Router(UNREACHABLE, { transport, requestTimeout: 1, firstServer: true });
  const [way, patient] = [performance.now(), Infinity].map((giveUp) => new router.Way(known, ORDERS, giveUp, 0));
  const followed: unknown[] = [];
  for (const [i, id] of ['a', 'b', 'c'].entries()) {
    const from = known.placeOf(ORDERS);
    followed.push(await way?.onward(elsewhere(id, i + 1), from));
    assert.notEqual(known.placeOf(ORDERS), from);
  }
  assert.deepEqual(followed, [true, true, false]);
  assert.equal(await patient?.onward(elsewhere('d', 4), known.placeOf(ORDERS)), true);
  known.close();
});

test('table that does not come leaves time for the shard that the refusal names', { timeout: 300_000 }, async () => {
  const known = new router.Router(UNREACHABLE, { transport, requestTimeout: 60_000, firstServer: true });
  const giveUp = performance.now() + 4000;
  assert.equal(await new router.Way(known, ORDERS, giveUp, 0).onward(elsewhere('a', 1), known.placeOf([])), true);
  assert.ok(performance.now() < giveUp);
  assert.equal(known.placeOf(ORDERS).id, 'a');
  known.close();
});

test('error that says nothing of another shard is told', { timeout: 300_000 }, async () => {
  const known = new router.Router(UNREACHABLE, { transport, requestTimeout: 1, firstServer: true });
  const way = new router.Way(known, ORDERS, Infinity, 0);
  const other = new Error('something else');
  await assert.rejects(way.onward(other, known.placeOf([])), other);
  const wrong = elsewhere('a', 1);
  await assert.rejects(new router.Way(known, [], Infinity, 0).onward(wrong, known.placeOf([])), wrong); // asked about no namespace
  known.close();
});

test('client remembers so many shards and words of them, and no more', { timeout: 300_000 }, async () => {
  const known = new router.Router(UNREACHABLE, { transport, requestTimeout: 1, firstServer: true });
  const home = known.placeOf([]);
  for (let i = 0; i < 1500; i++) {
    const [namespace, id] = [`n${String(i)}`, `s${String(i)}`];
    const said = create(shardMessages.WrongShardSchema, { namespace, shard: { id, addresses: [`${id}:7420`] }, tableVersion: BigInt(i) });
    assert.ok(await known.learn(new errors.WrongShardError('elsewhere', 9, said), [{ name: `${namespace}/1` }], home, 0, known.closingSignal));
    assert.equal(known.placeOf([{ name: `${namespace}/2` }]).id, id);
  }
  const { hints } = known as unknown as { hints: Map<string, unknown> };
  assert.ok(hints.size <= 1000, String(hints.size));
  assert.ok(known.places.length <= 1001, String(known.places.length));
  assert.equal(known.places[0], home);
  assert.equal(known.placeOf([{ name: 'n0/1' }]), home); // asked there, it says it again
  known.close();
});
