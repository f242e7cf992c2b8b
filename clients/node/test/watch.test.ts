/** Watches whose stream breaks: on a server that answers as the test says. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Server, ServerCredentials, status, type ServerWritableStream } from '@grpc/grpc-js';
import { Client, type WatchEvent } from 'lockkeeper';
import type * as Messages from '../dist/esm/gen/lockkeeper/v1/watch_pb.js';

// The package does not export its messages.
const generated = new URL('../../dist/esm/gen/lockkeeper/v1/watch_pb.js', import.meta.url);
const { WatchRequestSchema, WatchResponseSchema } = (await import(generated.href)) as typeof Messages;

type Watching = ServerWritableStream<Messages.WatchRequest, Messages.WatchResponse>;

const server = new Server();
const asked: string[] = []; // the start revision of each stream
let watching: Watching;
let revision = '0';

server.register(
  '/lockkeeper.v1.LockService/Watch',
  (stream: Watching) => {
    watching = stream;
    asked.push(stream.request.startRevision);
    stream.write(create(WatchResponseSchema, { revision, event: { case: 'snapshotEnd', value: {} } }));
    stream.write(create(WatchResponseSchema, { revision: '0', event: { case: 'heartbeat', value: {} } }));
  },
  (message: Messages.WatchResponse) => Buffer.from(toBinary(WatchResponseSchema, message)),
  (bytes: Buffer) => fromBinary(WatchRequestSchema, bytes),
  'serverStream',
);
const port = await new Promise<number>((done, fail) => {
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
    if (error === null) {
      done(bound);
    } else {
      fail(error);
    }
  });
});

after(() => {
  server.forceShutdown();
});

async function next(watch: AsyncGenerator<WatchEvent, void, undefined>): Promise<string | undefined> {
  const event = await watch.next();
  return event.done === true ? undefined : event.value.kind;
}

function disconnect(): void {
  watching.emit('error', Object.assign(new Error('broken by a test'), { code: status.UNAVAILABLE, details: 'broken by a test' }));
}

for (const what of [['orders/1'], { prefix: 'orders/' }]) {
  test(`watch of ${JSON.stringify(what)} resumes at its revision, and without one begins anew, with a gap`, { timeout: 300_000 }, async () => {
    asked.length = 0;
    revision = '11';
    const client = new Client(`127.0.0.1:${String(port)}`);
    const watch = client.watch(what);
    assert.equal(await next(watch), 'snapshotEnd'); // no gap: there was nothing before
    revision = '0';
    disconnect();
    assert.equal(await next(watch), 'snapshotEnd');
    disconnect();
    assert.equal(await next(watch), 'gap');
    assert.equal(await next(watch), 'snapshotEnd');
    assert.deepEqual(asked, ['0', '11', '0']);
    await client.close();
    await assert.rejects(watch.next(), { name: 'ClosedError' });
  });
}
