/** Locks that are kept unused, on the server in memory and on a real one. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, custom, exclusive, permits, read, RequestRefusedError, write, type Lock, type LockOptions, type Locks } from 'lockkeeper';
import { FakeServer } from 'lockkeeper/testing';
import { queued } from './queued.js';
import { missing, RealServer } from './servers.js';

const keep = { keepUnused: 60_000 };

for (const kind of ['fake', 'real'] as const) {
  describe(kind, { skip: kind === 'real' ? missing : undefined, timeout: 120_000 }, () => {
    let server: FakeServer | RealServer;
    let one: Client;
    let other: Client;

    const cycle = async (locks: Locks, options: LockOptions = keep): Promise<bigint | undefined> => {
      const lock = await one.lock(locks, options);
      assert.equal((await lock.release()).outcome, 'RELEASED');
      assert.ok(!lock.valid);
      return lock.fencingToken;
    };
    const free = async (name: string): Promise<void> => {
      while ((await other.getLock(name)).holders.length > 0) {
        await sleep(20);
      }
    };

    before(async () => {
      server = kind === 'fake' ? await FakeServer.start() : await RealServer.start();
      [one, other] = [new Client(server.address), new Client(server.address)];
    });
    after(async () => {
      await Promise.all([one.close(), other.close()]);
      await server.close();
    });

    test('next who asks alike is granted what is kept, with its tokens', async () => {
      const locks = [exclusive('reused/a'), read('reused/b')];
      const token = await cycle(locks);
      assert.equal(await cycle(locks, { keepUnused: 100, holder: 'another', metadata: { step: '2' } }), token);
      const lock = await one.tryLock(locks, keep);
      assert.equal(lock?.fencingToken, token);
      assert.ok(lock?.valid === true && lock.remaining > 0);
      assert.deepEqual(
        lock.grants.map(({ name, previousEnd, holdCount }) => [name, previousEnd, holdCount]),
        [
          ['reused/a', 'RELEASED', 1],
          ['reused/b', 'RELEASED', 1],
        ],
      );
      assert.equal((await other.getLock('reused/a')).holders[0]?.fencingToken, token);
      await lock.release();
    });

    test('what is not alike asks the server', async () => {
      const token = await cycle('unlike');
      for (const options of [{ ...keep, lockDelay: 100 }, { maxHold: 60_000 }, {}]) {
        const next = await one.lock('unlike', options);
        assert.ok(token !== undefined && next.fencingToken > token);
        await next.release();
      }
    });

    test('what is kept is given to another client that wants it', async () => {
      const token = await cycle('wanted');
      await other.withLock('wanted', (lock) => {
        assert.ok(token !== undefined && lock.fencingToken > token);
      });
      assert.notEqual(await cycle('wanted'), token);
    });

    test('try of another client finds it taken and makes it free', async () => {
      await cycle('tried');
      await (await other.tryLock('tried'))?.release(); // It may have become free in time.
      await free('tried');
      await other.withLock('tried', (lock) => {
        assert.ok(lock.valid);
      });
    });

    test('it is released when its time is over', async () => {
      await cycle('over', { keepUnused: 100 });
      await free('over');
    });

    test('those who wait in the client come one after the other', async () => {
      const first = await one.lock('in-line', keep);
      const order: number[] = [];
      const waiting = [0, 1, 2, 3].map(async (i) => {
        const lock = await one.lock('in-line', { ...keep, wait: 60_000 });
        order.push(i);
        assert.equal(lock.fencingToken, first.fencingToken);
        assert.equal((await one.tryLock('in-line', keep))?.fencingToken, undefined);
        await lock.release();
      });
      await first.release();
      await Promise.all(waiting);
      assert.deepEqual(order, [0, 1, 2, 3]);
    });

    test('tasks that want the same lock at the same time keep it', async () => {
      const tokens = new Set<bigint>();
      const task = async (): Promise<void> => {
        for (let i = 0; i < 20; i++) {
          const lock = await one.lock('tasks', keep);
          tokens.add(lock.fencingToken);
          await new Promise(setImmediate);
          await lock.release();
        }
      };
      await Promise.all([task(), task(), task()]);
      assert.equal(tokens.size, 1);
    });

    test('each of those who ask together is refused', { skip: kind === 'fake' }, async () => {
      const locks = [exclusive('refused/a'), custom('refused/b', 'no such mode')];
      await Promise.all([0, 1, 2].map(() => assert.rejects(one.lock(locks, keep), RequestRefusedError)));
    });

    test('who has waited in the client gets it before others who want it, and who comes later does not', async () => {
      let local: Promise<Lock>[] = [];
      const releasing = new Promise<void>((done, fail) => {
        const holding = one.lock('handed-on', {
          ...keep,
          onContended: () => {
            local.push(one.lock('handed-on', keep)); // later
            holding
              .then((lock) => lock.release())
              .then(() => {
                done();
              }, fail);
          },
        });
        holding.then(() => {
          local = [one.lock('handed-on', keep)];
        }, fail);
      });
      while (local.length === 0) {
        await sleep(5);
      }
      const [theirs] = await queued(other, 'handed-on');
      await releasing;
      const [early, late] = local;
      const order: string[] = [];
      const use = async (who: string, lock: Promise<Lock> | undefined): Promise<bigint> => {
        const held = await lock;
        order.push(who);
        await held?.release();
        return held?.fencingToken ?? 0n;
      };
      const tokens = await Promise.all([use('late', late), use('theirs', theirs), use('early', early)]);
      assert.equal(order[0], 'early');
      const [later, another, before] = tokens;
      assert.ok(later > before && another > before);
    });

    test('what can be shared is held by several at a time, and kept', async () => {
      for (const shared of [read('shared/read'), permits('shared/permits', 1, 2)]) {
        const [first, second] = [await one.lock(shared, keep), await one.lock(shared, keep)];
        assert.ok(first.valid && second.valid);
        await second.release();
        const third = await one.lock(shared, keep);
        assert.equal(third.fencingToken, second.fencingToken);
        await Promise.all([first.release(), third.release()]);
      }
      await other.withLock([write('shared/read'), permits('shared/permits', 2, 2)], (lock) => {
        assert.ok(lock.valid);
      });
    });

    test('owner comes to hold it once more, and it passes on with the last release', async () => {
      const outer = await one.lock('levels', { ...keep, owner: 'o' });
      const next = one.lock('levels', keep);
      const inner = await one.lock('levels', { ...keep, owner: 'o' });
      assert.equal(inner.fencingToken, outer.fencingToken);
      assert.equal(inner.grants[0]?.holdCount, 2);
      assert.deepEqual(await outer.release(), { outcome: 'DECREMENTED', remainingHolds: 1 });
      assert.ok(inner.valid && !outer.valid);
      assert.equal((await inner.release()).outcome, 'RELEASED');
      assert.equal((await next).fencingToken, outer.fencingToken);
      await (await next).release();
    });

    test('closing the client frees what it keeps', async () => {
      const closing = new Client(server.address);
      await (await closing.lock('closed', keep)).release();
      await closing.close();
      await free('closed');
    });
  });
}
