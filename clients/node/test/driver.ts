/** Speaks the conformance kit's line protocol (docs/writing-a-client.md) for the client. */
import { createInterface } from 'node:readline';
import { Client, LeaseLostError, NotAcquiredError, type Lock } from 'lockkeeper';

interface Command {
  readonly do: string;
  readonly id?: string;
  readonly servers?: readonly string[];
  readonly ttl_ms?: number;
  readonly locks?: readonly string[];
  readonly wait_ms?: number;
  readonly keep_ms?: number;
}

let client: Client | undefined;
const asked = new Map<string, AbortController>();
const held = new Map<string, Lock>();

function report(is: string, id: string, more: Record<string, unknown> = {}): void {
  process.stdout.write(`${JSON.stringify({ is, id, ...more })}\n`);
}

async function acquire(id: string, command: Command, abort: AbortController): Promise<void> {
  try {
    const lock = await client?.lock(command.locks ?? [], {
      signal: abort.signal,
      ...(command.wait_ms === undefined ? {} : { wait: command.wait_ms }),
      ...(command.keep_ms === undefined ? {} : { keepUnused: command.keep_ms }),
      onJeopardy: () => {
        report('jeopardy', id);
      },
      onSafe: () => {
        report('safe', id);
      },
      onLost: (reason) => {
        // After the grant was reported, which this may come before.
        setImmediate(() => {
          report('lost', id, { reason });
        });
      },
    });
    if (lock !== undefined) {
      held.set(id, lock);
      report('granted', id, { tokens: lock.grants.map((grant) => String(grant.fencingToken)) });
    }
  } catch (error) {
    const known = error instanceof NotAcquiredError || error instanceof LeaseLostError;
    report('not_acquired', id, { reason: known ? error.reason : abort.signal.aborted ? 'WITHDRAWN' : String(error) });
  }
}

async function release(id: string): Promise<void> {
  const lock = held.get(id);
  if (lock === undefined) {
    asked.get(id)?.abort();
  } else if (lock.lostReason === undefined) {
    const result = await lock.release();
    report('released', id, { outcome: result.outcome });
  }
}

function on(command: Command): void {
  const id = command.id ?? '';
  switch (command.do) {
    case 'open':
      client = new Client((command.servers ?? []).join(','), { ttl: command.ttl_ms ?? 15_000, requestTimeout: 60_000, firstServer: true });
      break;
    case 'acquire': {
      const abort = new AbortController();
      asked.set(id, abort);
      void acquire(id, command, abort);
      break;
    }
    case 'release':
      void release(id);
      break;
    case 'holding':
      report('holding', id, { holding: held.get(id)?.valid ?? false });
      break;
    case 'close':
      void client?.close().then(() => {
        report('closed', '');
      });
      break;
    default:
      throw new Error(`no such command: ${command.do}`);
  }
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    on(JSON.parse(line) as Command);
  })
  .on('close', () => {
    process.exit(0);
  });
