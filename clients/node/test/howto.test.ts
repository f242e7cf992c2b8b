/** The examples of the how-to pages, as they stand there, in processes of their own. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { FakeServer } from 'lockkeeper/testing';

const run = promisify(execFile);
const PAGES = join(import.meta.dirname, '../../../../docs/how-to');
const SAID = {
  'cron-job-once': /^do the tick if it is not done, with the token \d+n\n$/,
  'leader-election': /^one step, with the token \d+n\n$/,
  permits: /^export with two of four permits; valid: true\n$/,
};

for (const [page, said] of Object.entries(SAID)) {
  test(`example of ${page} runs`, async () => {
    const blocks = [...readFileSync(join(PAGES, `${page}.md`), 'utf8').matchAll(/```js\n(.*?)```/gs)];
    assert.equal(blocks.length, 1);
    const server = await FakeServer.start();
    try {
      const code = (blocks[0]?.[1] ?? '').replace('localhost:7420', server.address);
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], { cwd: import.meta.dirname, timeout: 60_000 });
      assert.match(stdout, said);
    } finally {
      server.close();
    }
  });
}
