/** The README's examples, as they stand there, in processes of their own. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { FakeServer } from 'lockkeeper/testing';

const run = promisify(execFile);
const README = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
const BLOCKS = [...README.matchAll(/```js\n(.*?)```/gs)].map((match) => match[1] ?? '');

async function saidBy(block: string | undefined): Promise<string> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', block ?? ''], { cwd: import.meta.dirname, timeout: 60_000 });
  return stdout;
}

test('start is as it says', async () => {
  const server = await FakeServer.start();
  try {
    assert.match(await saidBy(BLOCKS[0]?.replace('localhost:7420', server.address)), /^held, with the token \d+n\n$/);
  } finally {
    server.close();
  }
});

test('lock that is kept has the same token each time', async () => {
  const server = await FakeServer.start();
  try {
    const said = await saidBy(BLOCKS[1]?.replace('localhost:7420', server.address));
    assert.match(said, /^page 1 with the token (\d+)n\npage 2 with the token \1n\npage 3 with the token \1n\n$/);
  } finally {
    server.close();
  }
});

test('example of a test notices the loss', async () => {
  assert.equal(BLOCKS.length, 3);
  assert.equal(await saidBy(BLOCKS[2]), 'noticed: true\n');
});
