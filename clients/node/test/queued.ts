/** Requests that wait, for tests. */
import type { Client, Lock, LockOptions, Locks } from 'lockkeeper';

/** Asks for locks; done when the request waits in the queue. */
export async function queued(client: Client, locks: Locks, options: LockOptions = {}): Promise<Promise<Lock>[]> {
  return await new Promise((waits, fails) => {
    const lock: Promise<Lock> = client.lock(locks, {
      ...options,
      onQueued: () => {
        waits([lock]);
      },
    });
    lock.catch(fails);
  });
}
