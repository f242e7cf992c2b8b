import { setTimeout as sleep } from 'node:timers/promises';

const LONGEST = 0x7fffffff; // what setTimeout takes, in milliseconds

/** @internal Milliseconds of a clock that never goes back. It may stop while the machine is suspended: Node.js has no other. */
export function now(): number {
  return performance.now();
}

/** @internal Timers by name: one that is set again replaces the one before. */
export class Timers {
  private readonly running = new Map<string, NodeJS.Timeout>();

  set(name: string, delay: number, action: () => void): void {
    this.stop(name);
    if (delay === Infinity) {
      return;
    }
    const timer = setTimeout(
      () => {
        this.running.delete(name);
        if (delay > LONGEST) {
          this.set(name, delay - LONGEST, action);
        } else {
          action();
        }
      },
      Math.min(LONGEST, Math.max(0, delay)),
    );
    timer.unref(); // sockets keep a process, timers need not
    this.running.set(name, timer);
  }

  stop(name: string): void {
    clearTimeout(this.running.get(name));
    this.running.delete(name);
  }

  stopAll(): void {
    for (const name of [...this.running.keys()]) {
      this.stop(name);
    }
  }
}

/** @internal The pause after so many failures in a row, with jitter. */
export function backoff(failures: number): number {
  return Math.min(2000, 50 * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2);
}

/** @internal Waits for so long; fails with the signal's reason if that is aborted before the end. */
export async function pause(millis: number, signal?: AbortSignal): Promise<void> {
  await sleep(millis, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
  signal?.throwIfAborted();
}

/** @internal Waits for so long at most. */
export async function limited<T>(work: Promise<T>, millis: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, refuse) => {
    timer = setTimeout(() => {
      refuse(new Error('it takes too long'));
    }, millis);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
