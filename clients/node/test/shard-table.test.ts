/** The table of shards: who serves what, and which tables are refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { shardMessages, shards } from './internals.js';

const { namespaceOf, ShardTable, weightOf } = shards;

type TableInit = MessageInitShape<typeof shardMessages.ShardTableSchema>;

function shard(id: string, hashed = true): NonNullable<TableInit['shards']>[number] {
  return { id, addresses: [`${id}:7420`], hashed };
}

function table(init: TableInit): ReturnType<typeof ShardTable.from> {
  return ShardTable.from(create(shardMessages.ShardTableSchema, { version: 1n, ...init }));
}

test('weight is what sha256sum says', () => {
  assert.equal(weightOf('a', 'orders'), 0xebf83eb83f9203e6n); // printf '%s' 'a/orders' | sha256sum
  assert.equal(weightOf('b', 'orders'), 0x84ef9421b677d214n);
  assert.equal(weightOf('c', 'orders'), 0x5e02275c2649cc0dn);
  assert.equal(weightOf('eu-west-1', 'stock'), 0xdf8b84eceea4e76an);
  assert.equal(weightOf('c', 'é'), 0xb782b5feccdb7565n);
});

test('heaviest of the hashed shards serves what is not named', () => {
  const three = table({ shards: [shard('a'), shard('b'), shard('c')] });
  assert.deepEqual(
    ['orders', 'stock', 'é'].map((namespace) => three?.shardOf(namespace)?.id),
    ['a', 'c', 'c'],
  );
  const two = table({ shards: [shard('a', false), shard('b'), shard('c')] });
  assert.deepEqual(
    ['orders', 'orders'].map((namespace) => two?.shardOf(namespace)?.id), // computed, and as it was remembered
    ['b', 'b'],
  );
  assert.equal(table({ shards: [shard('a', false)] })?.shardOf('orders'), undefined);
});

test('name comes before the weights, and its shard need not be hashed', () => {
  const named = table({ shards: [shard('a'), shard('b', false)], namespaces: [{ namespace: 'orders', shard: 'b' }] });
  assert.deepEqual(named?.shardOf('orders'), { id: 'b', targets: [{ host: 'b', port: 7420 }] });
});

test('namespace is the first segment', () => {
  assert.deepEqual(['orders', 'orders/42', 'orders/', 'orders/42/x'].map(namespaceOf), ['orders', 'orders', 'orders', 'orders']);
});

test('table that is not as the contract says is none', () => {
  const many = (count: number): NonNullable<TableInit['shards']> => Array.from({ length: count }, (_, i) => shard(String(i)));
  const named = (count: number): NonNullable<TableInit['namespaces']> => Array.from({ length: count }, (_, i) => ({ namespace: String(i), shard: '0' }));
  const moving = (count: number): NonNullable<TableInit['moves']> => Array.from({ length: count }, (_, i) => ({ namespace: String(i), to: '0' }));
  assert.ok(table({ shards: many(1000), namespaces: named(10_000), moves: moving(100) }) !== undefined);
  const wrong: TableInit[] = [
    { shards: many(1001) },
    { shards: many(1), namespaces: named(10_001) },
    { shards: many(1), moves: moving(101) },
    { shards: many(1), version: 0n },
    { shards: [shard('a'), shard('a')] },
    { shards: [shard('A')] },
    { shards: [shard('a'.repeat(33))] },
    { shards: [{ id: 'a', addresses: [] }] },
    { shards: [{ id: 'a', addresses: Array.from({ length: 17 }, () => 'a:1') }] },
    { shards: [{ id: 'a', addresses: ['no address:x'] }] },
    { shards: many(1), namespaces: [{ namespace: 'orders', shard: 'nobody' }] },
  ];
  assert.deepEqual(
    wrong.map((init) => table(init)),
    wrong.map(() => undefined),
  );
  assert.equal(ShardTable.from(undefined), undefined);
});
