/** A real coordinator for tests: the program's jar, with an embedded ZooKeeper. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const JAR = process.env['LOCKKEEPER_JAR'] ?? join(import.meta.dirname, '../../../../cli/target/lockkeeper.jar');

/** Why no coordinator can be started; undefined: one can. */
export const missing = existsSync(JAR) ? undefined : `there is no ${JAR}: run make build`;

if (missing !== undefined) {
  console.log(`SKIPPED: tests on a real coordinator: ${missing}`);
}

export class RealServer {
  private constructor(
    readonly port: number,
    private readonly process: ChildProcess,
    private readonly data: string,
  ) {}

  get address(): string {
    return `127.0.0.1:${String(this.port)}`;
  }

  static async start(...flags: string[]): Promise<RealServer> {
    const data = await mkdtemp(join(tmpdir(), 'lockkeeper-test-'));
    const free = ['--listen=127.0.0.1:0', '--http=127.0.0.1:0', '--zookeeper-port=0', `--data-dir=${data}`];
    const java = spawn('java', ['-Xmx256m', '-XX:TieredStopAtLevel=1', '-jar', JAR, 'dev', ...free, ...flags], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    const port = await new Promise<number>((done, fail) => {
      createInterface({ input: java.stdout }).on('line', (line) => {
        said += `${line}\n`;
        const match = /localhost:(\d+) lockkeeper\.v1/.exec(line);
        if (match !== null) {
          done(Number(match[1]));
        }
      });
      java.on('exit', () => {
        fail(new Error(`no coordinator: ${said}`));
      });
    });
    return new RealServer(port, java, data);
  }

  async close(): Promise<void> {
    const ended = new Promise((done) => this.process.on('exit', done));
    this.process.kill('SIGKILL');
    await ended;
    await rm(this.data, { recursive: true, force: true });
  }
}
