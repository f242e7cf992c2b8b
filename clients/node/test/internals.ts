/** Parts of the package that it does not export, for tests of what nobody sees from outside. */
import type { RequestRefusedError } from 'lockkeeper';
import type * as Shards from '../dist/esm/shards.js';
import type * as Router from '../dist/esm/router.js';
import type * as FakeShards from '../dist/esm/fake-shards.js';
import type * as ShardMessages from '../dist/esm/gen/lockkeeper/v1/shard_service_pb.js';
import type * as LockMessages from '../dist/esm/gen/lockkeeper/v1/lock_service_pb.js';
import type * as WatchMessages from '../dist/esm/gen/lockkeeper/v1/watch_pb.js';

async function load(module: string): Promise<unknown> {
  return await import(new URL(`../../dist/esm/${module}.js`, import.meta.url).href);
}

export const shards = (await load('shards')) as typeof Shards;
export const router = (await load('router')) as typeof Router;
/** Not exported, nor declared. */
export const errors = (await load('errors')) as { WrongShardError: new (message: string, code: number, said: unknown) => RequestRefusedError };
export const fakes = (await load('fake-shards')) as typeof FakeShards;
export const shardMessages = (await load('gen/lockkeeper/v1/shard_service_pb')) as typeof ShardMessages;
export const lockMessages = (await load('gen/lockkeeper/v1/lock_service_pb')) as typeof LockMessages;
export const watchMessages = (await load('gen/lockkeeper/v1/watch_pb')) as typeof WatchMessages;
