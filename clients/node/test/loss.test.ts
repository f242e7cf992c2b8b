/** Locks that are lost, and servers that go away: on the server in memory, where a test says when. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { afterEach, beforeEach, test } from 'node:test';
import { spawn } from 'node:child_process';
import { inspect } from 'node:util';
import { Client, LockLostError, permits, ServerUnavailableError, type ClientOptions, type Lock, type ReleaseRequested } from 'lockkeeper';
import { FakeServer } from 'lockkeeper/testing';

let server: FakeServer;
let clients: Client[] = [];

function client(options: ClientOptions = {}): Client {
  const made = new Client(server.address, { ttl: 3_600_000, ...options }); // a process that stands still loses no lease
  clients.push(made);
  return made;
}

async function lost(lock: Lock): Promise<string> {
  if (!lock.signal.aborted) {
    await once(lock.signal, 'abort');
  }
  assert.ok(lock.signal.reason instanceof LockLostError);
  return lock.signal.reason.reason;
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

const limit = { timeout: 300_000 };

test('signal of a lock is aborted with the reason when it is lost', limit, async () => {
  const one = client();
  const work = one.withLock('orders/42', async (lock) => {
    server.lose('orders/42');
    await once(lock.signal, 'abort');
    assert.throws(() => {
      lock.check();
    }, LockLostError);
    lock.signal.throwIfAborted();
  });
  await assert.rejects(work, (error) => error instanceof LockLostError && error.reason === 'FORCED');
  await assert.rejects(async () => {
    const lock = await one.lock('orders/43');
    try {
      server.lose('orders/43');
      await lost(lock);
    } finally {
      await lock[Symbol.asyncDispose]();
    }
  }, LockLostError);
});

test('error of the work goes before the loss', limit, async () => {
  const work = client().withLock('a', async (lock) => {
    server.lose('a');
    await lost(lock);
    throw new TypeError('a bug');
  });
  await assert.rejects(work, TypeError);
});

test('holder is asked to give way and told of jeopardy', limit, async () => {
  const asked: ReleaseRequested[] = [];
  let doubt = 0;
  const done: (() => void)[] = [];
  const told = async (): Promise<void> => {
    await new Promise<void>((resolve) => done.push(resolve));
  };
  const tell = (): void => done.shift()?.();
  const lock = await client().lock('a', {
    onReleaseRequested: (who) => {
      asked.push(who);
      tell();
    },
    onJeopardy: (validFor) => {
      doubt = validFor;
      tell();
    },
    onSafe: tell,
  });
  let waits = told();
  server.requestRelease('a', 'anna', 'maintenance');
  await waits;
  assert.deepEqual(asked, [{ name: 'a', requester: 'anna', reason: 'maintenance', deadline: undefined }]);
  await lock.answerRelease(1000);
  waits = told();
  server.jeopardize(60_000);
  await waits;
  assert.equal(doubt, 60_000);
  assert.ok(lock.remaining <= 60_000);
  waits = told();
  server.makeSafe();
  await waits;
  assert.ok(lock.remaining > 60_000);
});

test('leader that loses its lock goes back to the queue', limit, async () => {
  const terms: bigint[] = [];
  const result = await client()
    .election('leader')
    .run('me', async (leadership) => {
      terms.push(leadership.fencingToken);
      if (terms.length === 1) {
        server.lose('leader');
        await lost(leadership);
        leadership.signal.throwIfAborted();
      }
      return 'done';
    });
  assert.equal(result, 'done');
  assert.ok(terms.length === 2 && (terms[0] ?? 0n) < (terms[1] ?? 0n));
});

test('callbacks that throw harm nothing', limit, async () => {
  const fail = (): never => {
    throw new Error('a bad callback');
  };
  const one = client({ observer: { acquiring: fail, streamOpened: fail } });
  const lock = await one.lock('a', { onLost: fail, onQueued: fail });
  server.lose('a');
  assert.equal(await lost(lock), 'FORCED');
});

test('program ends by itself when its client is closed', limit, async () => {
  const code = `import { Client } from 'lockkeeper';
    const client = new Client('${server.address}');
    await client.withLock('a', async () => { await client.getLock('a'); });
    await client.close();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { cwd: import.meta.dirname, stdio: 'inherit' });
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('forgotten client gives its locks back', limit, async () => {
  const code = `import { Client } from 'lockkeeper';
    await (async () => { await new Client('${server.address}', { ttl: 3_600_000 }).lock('a'); })();
    const other = new Client('${server.address}');
    for (let free; free === undefined; free = await other.tryLock('a', { wait: 100 })) { globalThis.gc(); }
    await other.close();`;
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', code], { cwd: import.meta.dirname, stdio: 'inherit' });
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('what is out of range is refused and named', async () => {
  const one = client();
  const wrong: [string, Parameters<Client['lock']>][] = [
    ['name', ['']],
    ['empty segments', ['a//b']],
    ['control', ['a\nb']],
    ['512 bytes', ['x'.repeat(513)]],
    ['16 segments', ['a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q']],
    ['1 to 64', [[]]],
    ['once', [['a', 'a']]],
    ['wait', ['a', { wait: -1 }]],
    ['owner', ['a', { owner: 'é'.repeat(129) }]],
    ['metadata', ['a', { metadata: { '': 'x' } }]],
    ['maxHold', ['a', { maxHold: 1 }]],
    ['lockDelay', ['a', { lockDelay: 3_600_001 }]],
    ['positionInterval', ['a', { positionInterval: 1 }]],
  ];
  await Promise.all(
    wrong.map(async ([said, arguments_]) => {
      await assert.rejects(one.lock(...arguments_), (error) => error instanceof RangeError && error.message.includes(said));
    }),
  );
});

test('what is of another type is refused and named', async () => {
  const one = client();
  const wrong = [undefined, 42, { name: 'a' }, ['a', 5]] as unknown as string[];
  await Promise.all(wrong.map((locks) => assert.rejects(one.lock(locks), /^TypeError: locks must be/)));
  await assert.rejects(one.lock('a', { wait: '5' as unknown as number }), /^TypeError: wait must be a number/);
  await assert.rejects(one.lock('a', { wait: Infinity }), /wait must be 0 to 604800000, not Infinity/);
  assert.throws(() => new Client('localhost', { token: 'abc' as unknown as () => string }), /^TypeError: token must be a function/);
});

test('no server is no lock that somebody else holds, and the last failure is told', limit, async () => {
  const one = new Client('127.0.0.1:1', { requestTimeout: 1000 });
  clients.push(one);
  const unavailable = (error: unknown): boolean =>
    error instanceof ServerUnavailableError && error.message.includes('127.0.0.1:1: connect ECONNREFUSED') && error.cause !== undefined;
  await assert.rejects(one.tryLock('a'), unavailable);
  await assert.rejects(one.lock('a', { wait: 30_000 }), unavailable);
  await assert.rejects(one.getLock('a'), (error) => error instanceof ServerUnavailableError && !error.message.includes('Resolution note'));
});

test('reason of an abort is thrown, also where no server was reached', limit, async () => {
  const one = new Client('127.0.0.1:1');
  clients.push(one);
  const why = new Error('no time');
  const controller = new AbortController();
  const waiting = assert.rejects(one.lock('a', { signal: controller.signal }), why);
  setImmediate(() => {
    controller.abort(why);
  });
  await waiting;
});

test('one signal may withdraw many requests', limit, async () => {
  const warnings: Error[] = [];
  const warned = (warning: Error): void => {
    warnings.push(warning);
  };
  process.on('warning', warned);
  const controller = new AbortController();
  await Promise.all(Array.from({ length: 30 }, (_, i) => client().lock(`many/${String(i)}`, { signal: controller.signal })));
  await new Promise(setImmediate);
  process.off('warning', warned);
  assert.deepEqual(warnings, []);
});

test('console shows no secret of the lease', limit, async () => {
  const one = client();
  const lock = await one.lock('a');
  assert.match(inspect(lock), /^Lock \{ "a", fencingToken: \d+n, valid: true \}$/);
  assert.doesNotMatch(inspect(one, { depth: 10, showHidden: true }), /[0-9a-f]{32}/);
});

test('loss of a lock that nobody holds is a mistake of the test', () => {
  assert.throws(() => {
    server.lose('typo');
  }, /nobody holds "typo"/);
});

test('levels above a limited hold end with it', limit, async () => {
  const one = client();
  const outer = await one.lock('a', { owner: 'o', maxHold: 2000 });
  const inner = await one.lock('a', { owner: 'o' });
  assert.ok(inner.remaining <= 2000);
  server.freeze();
  assert.deepEqual(await Promise.all([lost(outer), lost(inner)]), ['MAX_HOLD', 'MAX_HOLD']);
});

test('candidate whose loop stood still goes back to the queue', limit, async () => {
  let terms = 0;
  const led = await client({ ttl: 2000 })
    .election('a')
    .run('me', () => {
      if (++terms === 1) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500); // longer than the lease lives; no timer runs
      }
      return terms;
    });
  assert.notEqual(led, 1);
});

test('signal of a lock that nobody keeps is aborted all the same', limit, async () => {
  const one = client();
  const { signal } = await one.lock('a');
  await new Promise(setImmediate);
  server.lose('a');
  await once(signal, 'abort');
  assert.ok(signal.reason instanceof LockLostError);
});

test('half a permit is refused before anything is sent', () => {
  assert.throws(() => permits('a', 1.5), /permits must be a whole number/);
});
