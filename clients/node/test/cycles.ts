/** How many times a second a lock that is kept is acquired and released: printed, for whoever changes the client. */
import { Client } from 'lockkeeper';
import { FakeServer } from 'lockkeeper/testing';

const MILLIS = 2000;

const server = await FakeServer.start();
const client = new Client(server.address);

async function cycles(millis: number): Promise<number> {
  const began = performance.now();
  let count = 0;
  for (; performance.now() - began < millis; count++) {
    const lock = await client.lock('cycles', { keepUnused: 60_000 });
    await lock.release();
  }
  return (count / (performance.now() - began)) * 1000;
}

await cycles(MILLIS); // until it is compiled
const perSecond = await cycles(MILLIS);
console.log(`${String(Math.round(perSecond))} cycles a second on a kept lock, ${(1e6 / perSecond).toFixed(1)} µs each; messages: ${String(server.received)}`);
await client.close();
server.close();
