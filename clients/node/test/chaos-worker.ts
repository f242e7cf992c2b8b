/**
 * A process of several clients for the chaos tests. Works until a line comes on its standard input, then finishes what it has begun; dies when its
 * input ends. Arguments: process name, servers, port of the registers, history file, clients, seed.
 */
import { openSync, writeSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, exclusive, LeaseLostError, NotAcquiredError, read, write, type Lock, type LockSpec } from 'lockkeeper';

/** By how much the clock of all histories is ahead of the client's, in nanoseconds. */
const SHIFT = process.hrtime.bigint() - BigInt(Math.round(performance.now() * 1e6));

function until(lock: Lock): bigint {
  return SHIFT + BigInt(Math.round(lock.validUntil * 1e6));
}

/** One JSON object a line; each is with the kernel at once. Numbers of 64 bits are written as they are. */
class History {
  private readonly file: number;

  constructor(path: string) {
    this.file = openSync(path, 'a');
  }

  write(event: string, fields: Record<string, string | number | bigint | boolean>): void {
    const more = Object.entries(fields).map(([key, value]) => `,${JSON.stringify(key)}:${typeof value === 'bigint' ? String(value) : JSON.stringify(value)}`);
    writeSync(this.file, `{"t":${String(process.hrtime.bigint())},"e":${JSON.stringify(event)}${more.join('')}}\n`);
  }
}

/** A connection to the registers that the locks protect. */
class Registers {
  private readonly socket: Socket;
  private readonly waiting: ((line: string) => void)[] = [];

  constructor(
    port: number,
    private readonly history: History,
  ) {
    this.socket = connect(port, '127.0.0.1').setNoDelay(true);
    createInterface({ input: this.socket }).on('line', (line) => this.waiting.shift()?.(line));
  }

  /** Reads a number and writes one more; false if the token was found to be stale. */
  async increment(a: string, lock: string, token: bigint): Promise<boolean> {
    const before = await this.ask(a, 'read', lock, token, 0, `R ${lock} ${String(token)}`);
    if (before === undefined) {
      return false;
    }
    return (await this.ask(a, 'write', lock, token, before + 1, `W ${lock} ${String(token)} ${String(before + 1)}`)) !== undefined;
  }

  private async ask(a: string, what: string, lock: string, token: bigint, value: number, line: string): Promise<number | undefined> {
    this.history.write(what, { a, lock, token, value });
    const answer = new Promise<string>((done) => this.waiting.push(done));
    this.socket.write(`${line}\n`);
    const [word, number] = (await answer).split(' ');
    this.history.write('answer', { a, ok: word === 'ok', value: Number(number) });
    return word === 'ok' ? Number(number) : undefined;
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Numbers that a seed decides (mulberry32). */
function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What a client does next: the same as the clients of other languages. Times are milliseconds. */
interface Work {
  readonly lock: LockSpec;
  readonly mode: 'exclusive' | 'read' | 'write';
  readonly hold: number;
  readonly step: number;
  readonly rest: number;
  readonly wait?: number;
  readonly withdraw?: number;
}

function draw(index: number, chance: () => number): Work {
  const between = (least: number, most: number): number => least + chance() * (most - least);
  const below = (limit: number): string => String(Math.floor(chance() * limit));
  if (index % 3 === 0) {
    return { lock: exclusive(`chaos/long/${below(16)}`), mode: 'exclusive', hold: between(1000, 12_000), step: 400, rest: between(100, 1000) };
  }
  if (index % 3 === 1) {
    const lock = exclusive(`chaos/hot/${below(4)}`);
    const work: Work = { lock, mode: 'exclusive', hold: between(1, 60), step: 20, rest: between(20, 250) };
    const lot = chance();
    return lot < 0.2 ? { ...work, wait: between(1, 1500) } : lot < 0.3 ? { ...work, withdraw: between(1, 300) } : work;
  }
  const name = `chaos/shared/${below(3)}`;
  const writes = chance() < 1 / 3;
  return { lock: writes ? write(name) : read(name), mode: writes ? 'write' : 'read', hold: between(5, 800), step: 50, rest: between(50, 500) };
}

/** One client with one lease: asks, works, releases, until it is told to stop. */
class Hand {
  private readonly client: Client;
  private readonly registers: Registers;
  private held: { a: string; lock: Lock; until: bigint } | undefined;

  constructor(
    private readonly name: string,
    private readonly index: number,
    servers: readonly string[],
    port: number,
    private readonly history: History,
    private readonly chance: () => number,
    private readonly stop: AbortSignal,
  ) {
    const first = index % servers.length;
    this.client = new Client([...servers.slice(first), ...servers.slice(0, first)].join(','), { holder: name });
    this.registers = new Registers(port, history);
  }

  async run(): Promise<void> {
    const looking = setInterval(() => {
      this.look();
    }, 200);
    for (let count = 1; !this.stop.aborted; count++) {
      const work = draw(this.index, this.chance);
      await this.once(`${this.name}/${String(count)}`, work);
      await this.pause(work.rest);
    }
    clearInterval(looking);
    await this.client.close();
    this.registers.close();
  }

  private async pause(millis: number): Promise<void> {
    await sleep(millis, undefined, { signal: this.stop }).catch(() => undefined);
  }

  private async once(a: string, work: Work): Promise<void> {
    const kept = this.chance() < 0.5;
    const keepUnused = 100 + this.chance() * 4_900;
    this.history.write('ask', { a, lock: work.lock.name, mode: work.mode, kept });
    const withdrawal = work.withdraw === undefined ? undefined : AbortSignal.timeout(Math.ceil(work.withdraw));
    let lock: Lock;
    try {
      lock = await this.client.lock(work.lock, {
        deadlockCheck: false,
        ...(kept ? { keepUnused } : {}),
        ...(work.wait === undefined ? {} : { wait: work.wait }),
        ...(withdrawal === undefined ? {} : { signal: withdrawal }),
        onQueued: (places) => {
          this.history.write('queued', { a, lease: this.client.leaseTag, ahead: places[0]?.ahead ?? 0 });
        },
        onLost: (reason) => {
          const { held } = this;
          this.held = undefined;
          this.history.write('lost', { a, until: held === undefined ? 0 : until(held.lock), reason });
        },
      });
    } catch (error) {
      this.history.write('refused', { a, reason: reasonOf(error, withdrawal) });
      return;
    }
    this.held = { a, lock, until: until(lock) };
    this.history.write('granted', { a, lease: this.client.leaseTag, token: lock.fencingToken, until: this.held.until });
    await this.use(a, work, lock);
  }

  private async use(a: string, work: Work, lock: Lock): Promise<void> {
    const end = performance.now() + work.hold;
    while (lock.valid && performance.now() < end && !this.stop.aborted) {
      // Not checked again before the write: that is what the token is for.
      if (work.mode !== 'read' && !(await this.registers.increment(a, lock.name, lock.fencingToken))) {
        break;
      }
      await this.pause(work.step);
    }
    this.held = undefined;
    this.history.write('release', { a, until: until(lock) });
    const result = await lock.release();
    this.history.write('released', { a, reason: result.outcome });
  }

  /** Writes down when the deadline of what is held has moved on. */
  private look(): void {
    const { held } = this;
    if (held !== undefined && until(held.lock) !== held.until) {
      held.until = until(held.lock);
      this.history.write('extended', { a: held.a, until: held.until });
    }
  }
}

function reasonOf(error: unknown, withdrawal: AbortSignal | undefined): string {
  if (error instanceof LeaseLostError) {
    return `LEASE_LOST ${error.reason}`;
  }
  return error instanceof NotAcquiredError ? error.reason : withdrawal?.aborted === true ? 'WITHDRAWN' : String(error);
}

const [, , processName = '', servers = '', port = '', path = '', clients = '', seed = ''] = process.argv;
const history = new History(path);
history.write('begin', { process: processName });
const stop = new AbortController();
createInterface({ input: process.stdin })
  .on('line', (line) => {
    console.log('told:', line);
    stop.abort();
  })
  .on('close', () => {
    process.exit(3);
  });
const chance = chanceOf(Number(BigInt(seed) % 0xffffffffn));
const hands = Array.from(
  { length: Number(clients) },
  (_, i) => new Hand(`${processName}/${String(i)}`, i, servers.split(','), Number(port), history, chanceOf(Math.floor(chance() * 2 ** 32)), stop.signal),
);
await Promise.all(hands.map((hand) => hand.run()));
history.write('end', { process: processName });
process.exit(0);
