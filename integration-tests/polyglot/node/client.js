'use strict';
// A Lockkeeper client in JavaScript; the stubs are made from proto/ when it starts. Usage: see ../README.md.

const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');
const { setTimeout: pause } = require('node:timers/promises');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const NAME = 'node';
const PROTO = process.env.PROTO_DIR || path.join(__dirname, '../../../proto/src/main/proto');

// Tokens are 64 bits wide, more than a JavaScript number can hold: they stay strings.
const definition = loader.loadSync('lockkeeper/v1/lock_service.proto', {
  includeDirs: [PROTO],
  longs: String,
  enums: String,
  defaults: true,
  oneofs: true,
});
const { LockService } = grpc.loadPackageDefinition(definition).lockkeeper.v1;

// What the lock protects: a number in a file, and a log of the tokens.
async function work(counter, log, token) {
  const number = Number(fs.readFileSync(counter, 'ascii'));
  await pause(2);
  fs.writeFileSync(counter, String(number + 1));
  fs.appendFileSync(log, `${token} ${NAME}\n`);
}

function release(stub, request) {
  return new Promise((resolve, reject) => {
    stub.release(request, (error, response) => (error ? reject(error) : resolve(response)));
  });
}

// Takes the lock with one Acquire call each time; the call is the lease.
async function byStream(stub, lock, iterations, counter, log) {
  for (let i = 0; i < iterations; i++) {
    const call = stub.acquire({ locks: [{ name: lock }], holder: NAME });
    try {
      for await (const response of call) {
        if (response.event === 'granted') {
          const { leaseId, grants } = response.granted;
          const token = grants[0].fencingToken;
          await work(counter, log, token);
          if (i % 3 === 2) {
            call.cancel(); // hanging up releases, too
          } else {
            await release(stub, { leaseId, requestId: response.requestId, fencingToken: token });
          }
        } else if (response.event === 'lost' || response.event === 'notAcquired') {
          throw new Error(JSON.stringify(response));
        }
      }
    } catch (error) {
      if (error.code !== grpc.status.CANCELLED) throw error;
    }
  }
}

function millis(duration) {
  return Number(duration.seconds) * 1000 + duration.nanos / 1e6;
}

// One Session stream. Responses arrive through next(), in order.
class Session {
  constructor(stub) {
    this.call = stub.session();
    this.responses = this.call[Symbol.asyncIterator]();
  }

  static async open(stub) {
    const session = new Session(stub);
    session.call.write({ open: { holder: NAME } });
    const { opened } = await session.next('opened');
    session.interval = millis(opened.keepAliveInterval);
    session.keepAlive(1);
    return session;
  }

  // The next one, and those after it, when the newest answer has said.
  keepAlive(nonce) {
    this.timer = setTimeout(() => {
      this.call.write({ keepAlive: { nonce } });
      this.keepAlive(nonce + 1);
    }, this.interval);
  }

  async next(kind) {
    for (;;) {
      const { value, done } = await this.responses.next();
      if (done) throw new Error(`the stream ended before ${kind}`);
      if (value.response === 'keptAlive') this.interval = millis(value.keptAlive.keepAliveInterval);
      if (value.response === kind) return value;
      if (['refused', 'goingAway', 'leaseEnded'].includes(value.response)) throw new Error(JSON.stringify(value));
    }
  }

  async close() {
    clearTimeout(this.timer);
    this.call.write({ close: {} });
    await this.next('leaseEnded');
    this.call.end();
  }
}

// Takes the lock again and again under one lease.
async function bySession(stub, lock, iterations, counter, log) {
  const session = await Session.open(stub);
  for (let i = 0; i < iterations; i++) {
    const requestId = `${NAME}-${i}`;
    session.call.write({ acquire: { locks: [{ name: lock }], requestId, holder: NAME } });
    let event;
    do {
      ({ event } = await session.next('event'));
      if (event.event === 'lost' || event.event === 'notAcquired') throw new Error(JSON.stringify(event));
    } while (event.requestId !== requestId || event.event !== 'granted');
    const token = event.granted.grants[0].fencingToken;
    await work(counter, log, token);
    session.call.write({ release: { requestId, fencingToken: token } });
    let released;
    do {
      ({ released } = await session.next('released'));
    } while (released.requestId !== requestId);
  }
  await session.close();
}

// The largest token there can be goes through the stubs as it is.
function checkTokens() {
  const token = '9223372036854775807';
  const { requestSerialize, requestDeserialize } = LockService.service.CheckToken;
  const { fencingToken } = requestDeserialize(requestSerialize({ name: 'a', fencingToken: token }));
  if (fencingToken !== token || BigInt(fencingToken) !== 2n ** 63n - 1n) {
    throw new Error(`token ${token} came back as ${fencingToken}`);
  }
}

async function main() {
  if (process.argv[2] === 'tokens') {
    checkTokens();
    return;
  }
  const [target, mode, lock, iterations, counter, log] = process.argv.slice(2);
  const stub = new LockService(target, grpc.credentials.createInsecure());
  await new Promise((resolve, reject) => {
    stub.waitForReady(Date.now() + 20000, (error) => (error ? reject(error) : resolve()));
  });
  const input = readline.createInterface({ input: process.stdin });
  const go = new Promise((resolve) => input.once('line', resolve));
  console.log('ready');
  await go;
  input.close();
  await { stream: byStream, session: bySession }[mode](stub, lock, Number(iterations), counter, log);
  stub.close();
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(`${NAME}:`, error);
    process.exit(1);
  },
);
