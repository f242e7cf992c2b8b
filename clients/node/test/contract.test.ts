/** What locks do, on the server in memory and on a real one. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { Client, ClosedError, type Contended, custom, exclusive, NotAcquiredError, permits, read, RequestRefusedError, write } from 'lockkeeper';
import { FakeServer } from 'lockkeeper/testing';
import { queued } from './queued.js';
import { missing, RealServer } from './servers.js';

let count = 0;

function name(what: string): string {
  return `node/${what}/${String(process.pid)}-${String(count++)}`;
}

for (const kind of ['fake', 'real'] as const) {
  describe(kind, { skip: kind === 'real' ? missing : undefined, timeout: 600_000 }, () => {
    let server: FakeServer | RealServer;
    const clients: Client[] = [];

    const client = (options = {}): Client => {
      const made = new Client(server.address, options);
      clients.push(made);
      return made;
    };

    before(async () => {
      server = kind === 'fake' ? await FakeServer.start() : await RealServer.start();
    });
    after(async () => {
      await Promise.all(clients.map((each) => each.close()));
      await server.close();
    });

    test('next in the queue is granted with a higher token when the holder releases', async () => {
      const lock = name('queue');
      const held = await client().lock(lock);
      const [waiting] = await queued(client(), lock);
      assert.ok(held.valid && held.remaining > 0);
      held.check();
      assert.equal((await held.release()).outcome, 'RELEASED');
      const next = await waiting;
      assert.ok(next !== undefined && next.fencingToken > held.fencingToken);
      assert.ok(!held.valid);
      assert.throws(() => {
        held.check();
      }, ClosedError);
      await next.release();
    });

    test('try is undefined where somebody holds, and a timed wait ends', async () => {
      const lock = name('try');
      const other = client();
      await client().withLock(lock, async () => {
        assert.equal(await other.tryLock(lock), undefined);
        assert.equal(await other.tryLock(lock, { wait: 50 }), undefined);
        await assert.rejects(
          other.lock(lock, { wait: 50 }),
          (error) => error instanceof NotAcquiredError && error.reason === 'TIMED_OUT' && error.message.includes(lock),
        );
      });
      const free = await other.tryLock(lock);
      assert.ok(free !== undefined);
      await free.release();
    });

    test('requests that are larger together than a message may be are granted', async () => {
      const metadata = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`key-${String(i)}`, 'x'.repeat(250)]));
      const one = client();
      const locks = await Promise.all(Array.from({ length: 60 }, () => one.lock(name('large'), { metadata })));
      assert.ok(locks.every((lock) => lock.valid));
    });

    test('readers share and exclude writers', async () => {
      const lock = name('shared');
      const one = client();
      const first = await one.lock(read(lock));
      const second = await one.lock(read(lock));
      const [writer] = await queued(one, write(lock));
      await first.release();
      let done = false;
      void writer?.then(() => (done = true));
      await one.getLock(lock);
      assert.ok(!done);
      await second.release();
      await (await writer)?.release();
    });

    test('permits are granted up to the limit, and several locks together', async () => {
      const lock = name('permits');
      const one = client();
      const two = await one.lock(permits(lock, 2, 3));
      const third = await one.lock(permits(lock, 1, 3));
      const both = [permits(lock, 1, 3), exclusive(`${lock}-other`)];
      assert.equal(await one.tryLock(both), undefined);
      await two.release();
      const granted = await one.lock(both);
      assert.deepEqual(
        granted.grants.map((grant) => grant.name),
        [lock, `${lock}-other`],
      );
      await granted.release();
      await third.release();
    });

    test('owner is granted its lock again, and the last release frees it', async () => {
      const lock = name('reentrant');
      const one = client();
      const outer = await one.lock(lock, { owner: 'task' });
      const inner = await one.lock(lock, { owner: 'task' });
      assert.equal(inner.fencingToken, outer.fencingToken);
      assert.equal(inner.grants[0]?.holdCount, 2);
      assert.deepEqual(await inner.release(), { outcome: 'DECREMENTED', remainingHolds: 1 });
      assert.ok(outer.valid);
      assert.equal((await outer.release()).outcome, 'RELEASED');
    });

    test('lock passes on when its longest hold is over', async () => {
      const lock = name('held-long');
      const held = await client().lock(lock, { maxHold: 200 });
      await new Promise((over) => {
        held.signal.addEventListener('abort', over);
      });
      assert.equal(held.lostReason, 'MAX_HOLD');
      assert.equal((await held.release()).outcome, 'LOST');
      const next = await client().lock(lock);
      assert.notEqual(next.grants[0]?.previousEnd, 'RELEASED');
    });

    test('aborted wait leaves the queue', async () => {
      const lock = name('aborted');
      const [one, other] = [client(), client()];
      const held = await one.lock(lock);
      const abort = new AbortController();
      const [waiting] = await queued(other, lock, { signal: abort.signal });
      const [behind] = await queued(one, lock);
      const why = new Error('no more need');
      abort.abort(why);
      await assert.rejects(waiting ?? Promise.resolve(), why);
      await held.release();
      await (await behind)?.release();
    });

    test('others see who holds and what it says of itself', async () => {
      const lock = name('seen');
      const [one, other] = [client(), client()];
      const held = await one.lock(lock, { holder: 'a task', metadata: { step: '1' } });
      await held.updateMetadata({ step: '2' });
      const [holder] = (await other.getLock(lock)).holders;
      assert.equal(holder?.holder, 'a task');
      assert.equal(holder.metadata['step'], '2');
      assert.equal(holder.fencingToken, held.fencingToken);
      const listed = [];
      for await (const info of other.listLocks('node/seen/')) {
        listed.push(info.name);
      }
      assert.ok(listed.includes(lock));
      await held.release();
    });

    test('closing the client frees what it held and ends what waits', async () => {
      const lock = name('closed');
      const [one, other] = [client(), client()];
      const keep = { keepUnused: 60_000 };
      const held = await one.lock(lock);
      const used = await one.lock(`${lock}/used`, keep);
      await (await one.lock(`${lock}/unused`, keep)).release();
      const [waiting] = await queued(one, lock);
      const inClient = one.lock(`${lock}/used`, keep);
      const ended = Promise.all([waiting, inClient].map((each) => assert.rejects(each ?? Promise.resolve(), ClosedError)));
      await one.close();
      await ended;
      assert.ok(!held.valid);
      assert.equal(used.lostReason, 'LEASE_CLOSED');
      await (await other.lock([lock, `${lock}/used`, `${lock}/unused`])).release();
      await assert.rejects(one.lock(lock), ClosedError);
    });

    describe('kept unused, and contended', () => {
      const keep = { keepUnused: 60_000 };
      let one: Client;
      let other: Client;

      const cycle = async (lock: string): Promise<bigint | undefined> => {
        const held = await one.lock(lock, keep);
        assert.equal((await held.release()).outcome, 'RELEASED');
        return held.fencingToken;
      };

      before(() => {
        [one, other] = [client(), client()];
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

    if (kind === 'real') {
      test('each of those who ask together is refused', async () => {
        const one = client();
        const locks = [exclusive('refused/a'), custom('refused/b', 'no such mode')];
        await Promise.all([0, 1, 2].map(() => assert.rejects(one.lock(locks, { keepUnused: 60_000 }), RequestRefusedError)));
      });

      test('watch tells the state and then what changes', async () => {
        const lock = name('watched');
        const one = client();
        const held = await one.lock(lock);
        const seen: string[] = [];
        for await (const event of one.watch([lock])) {
          if (event.kind === 'snapshot') {
            assert.equal(event.lock.holders[0]?.fencingToken, held.fencingToken);
          } else if (event.kind === 'snapshotEnd') {
            await held.release();
          } else if (event.kind === 'change') {
            seen.push(event.change.cause);
            break;
          }
        }
        assert.deepEqual(seen, ['RELEASED']);
      });

      test('closing the client ends watches and calls', async () => {
        const one = client();
        const events = one.watch([name('closed')]);
        await events.next();
        const pending = assert.rejects(events.next(), ClosedError);
        await one.close();
        await pending;
        await assert.rejects(one.getLock('a'), ClosedError);
      });

      test('tokens, limits and refusals', async () => {
        const lock = name('refused');
        const one = client();
        const held = await one.lock(lock);
        assert.ok(await one.checkToken(lock, held.fencingToken));
        assert.ok(!(await one.checkToken(lock, held.fencingToken - 1n)));
        assert.equal((await one.requestRelease(lock, 'please')).length, 1);
        await assert.rejects(one.lock(read(lock)), (error) => error instanceof RequestRefusedError && error.reason === 'WRONG_KIND' && error.code === 9);
        await held.release();
        assert.equal(await one.configureLock(`${lock}-permits`, 2), 0);
        assert.equal(await one.configureLock(`${lock}-permits`, 0), 2);
      });

      test('leader is seen by others, and its end too', async () => {
        const lock = name('leader');
        const leading = await client().election(lock).campaign('http://me');
        const seen = [];
        for await (const leader of client().election(lock).observe()) {
          seen.push(leader?.value);
          if (leader === undefined) {
            break;
          }
          await leading.release();
        }
        assert.deepEqual(seen, ['http://me', undefined]);
      });
    }
  });
}
