/** Acquires and releases without a pause, for the benchmarks: load lockkeeper|redlock HOST:PORT; orders come on standard input. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'lockkeeper';

interface Order {
  readonly shape: string;
  readonly clients: number;
  readonly warmMillis: number;
  readonly millis: number;
}

/** Acquires a lock and releases it; returns how many milliseconds the grant took. */
type Cycle = (lock: string) => Promise<number>;

function say(what: string): void {
  console.log(`@load ${what}`);
}

function latency(waits: number[]): Record<string, number> {
  waits.sort((one, other) => one - other);
  const at = (part: number): number => (waits[Math.floor(part * (waits.length - 1))] ?? 0) * 1000;
  const mean = (waits.reduce((sum, wait) => sum + wait, 0) / Math.max(1, waits.length)) * 1000;
  return { count: waits.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: at(1), mean };
}

async function carryOut(order: Order, cycle: Cycle): Promise<void> {
  let waits: number[] = [];
  let stopping = false;
  let failure = '';
  const tasks = Array.from({ length: order.clients }, async (_, number) => {
    const lock = order.shape === 'HOT' ? 'bench/hot' : `bench/own-${String(number)}`;
    try {
      while (!stopping) {
        waits.push(await cycle(lock));
      }
    } catch (error) {
      failure = String(error);
    }
  });
  const first = async (): Promise<void> => {
    for (let i = 0; i < 3000 && waits.length === 0 && failure === ''; i++) {
      await sleep(10);
    }
  };
  await first();
  await sleep(order.warmMillis);
  say('begin');
  waits = [];
  const [began, spent] = [process.hrtime.bigint(), process.cpuUsage()];
  await sleep(order.millis);
  await first();
  const [counted, nanos, used] = [[...waits], Number(process.hrtime.bigint() - began), process.cpuUsage(spent)];
  stopping = true;
  const cpuNanos = (used.user + used.system) * 1000;
  say(`end ${JSON.stringify({ cycles: counted.length, nanos, cpuNanos, acquire: latency(counted), failure })}`);
  await Promise.all(tasks);
  say('idle');
}

function ofLockkeeper(address: string): Cycle {
  const client = new Client(address);
  return async (name) => {
    const asked = performance.now();
    const lock = await client.lock(name);
    const wait = performance.now() - asked;
    await lock.release();
    return wait;
  };
}

interface Redlock {
  acquire(names: string[], ttl: number): Promise<{ release(): Promise<unknown> }>;
}

function ofRedlock(address: string): Cycle {
  const load = createRequire(join(import.meta.dirname, '../../bench/package.json'));
  const { Redis } = load('ioredis') as { Redis: new (port: number, host: string) => unknown };
  const library = load('redlock') as { default: new (clients: unknown[], settings: Record<string, number>) => Redlock };
  const [host = '', port = ''] = address.split(':');
  const redlock = new library.default([new Redis(Number(port), host)], { retryCount: -1, retryDelay: 1, retryJitter: 1 });
  return async (name) => {
    const asked = performance.now();
    const lock = await redlock.acquire([name], 15_000);
    const wait = performance.now() - asked;
    await lock.release();
    return wait;
  };
}

const [, , system = '', address = ''] = process.argv;
const cycle = system === 'redlock' ? ofRedlock(address) : ofLockkeeper(address);
say('ready');
for await (const line of createInterface({ input: process.stdin })) {
  await carryOut(JSON.parse(line) as Order, cycle);
}
process.exit(0);
