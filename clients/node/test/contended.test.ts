/** Holders who want to know that somebody waits, on the server in memory and on a real one. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { Client, type Contended } from 'lockkeeper';
import { FakeServer } from 'lockkeeper/testing';
import { queued } from './queued.js';
import { missing, RealServer } from './servers.js';

for (const kind of ['fake', 'real'] as const) {
  describe(kind, { skip: kind === 'real' ? missing : undefined, timeout: 120_000 }, () => {
    let server: FakeServer | RealServer;
    let one: Client;
    let other: Client;

    before(async () => {
      server = kind === 'fake' ? await FakeServer.start() : await RealServer.start();
      [one, other] = [new Client(server.address), new Client(server.address)];
    });
    after(async () => {
      await Promise.all([one.close(), other.close()]);
      await server.close();
    });

    test('holder is told once that somebody waits', async () => {
      const told: Contended[] = [];
      const heard = new EventEmitter();
      const first = once(heard, 'contended');
      const held = await one.lock('told', {
        onContended: (contended) => {
          told.push(contended);
          heard.emit('contended');
        },
      });
      assert.equal(held.grants[0]?.waiters, 0);
      const abort = new AbortController();
      const [gone] = await queued(other, 'told', { signal: abort.signal });
      await first;
      abort.abort();
      await assert.rejects(gone ?? Promise.resolve());
      const [next] = await queued(other, 'told');
      await held.release();
      await (await next)?.release();
      assert.deepEqual(told, [{ name: 'told', waiters: 1, frozen: undefined }]);
    });

    test('grant says how many wait, and the holder is told with it', async () => {
      const held = await one.lock('with-the-grant');
      const told: Contended[] = [];
      const onContended = (contended: Contended): void => {
        told.push(contended);
      };
      const [first] = await queued(other, 'with-the-grant', { onContended });
      const [second] = await queued(other, 'with-the-grant', { onContended, notifyContention: false });
      const [third] = await queued(other, 'with-the-grant');
      await held.release();
      const waiters = [];
      for (const next of [first, second, third]) {
        const lock = await next;
        waiters.push(lock?.grants[0]?.waiters);
        await lock?.release();
      }
      assert.deepEqual(waiters, [2, 0, 0]);
      assert.deepEqual(told, [{ name: 'with-the-grant', waiters: 2, frozen: undefined }]);
    });
  });
}
