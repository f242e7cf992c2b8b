/** What tests of locks that are kept look at. */
import { NotAcquiredError, type Client } from 'lockkeeper';

export function isNotAcquired(reason: string): (error: unknown) => boolean {
  return (error) => error instanceof NotAcquiredError && error.reason === reason;
}

/** What the keeper of a client has: a test looks for what it should have let go of. */
export function inside(one: Client): { lines: number; owners: number; waiting: number; unused: number; timers: unknown[] } {
  const [place] = (one as unknown as { core: { router: { places: { keeper: Record<string, never> }[] } } }).core.router.places;
  const { lines, owners, waiting, count, timers } = place?.keeper as unknown as {
    lines: Map<string, unknown>;
    owners: Map<string, unknown>;
    waiting: number;
    count: { unused: number };
    timers: { running: Map<string, unknown> };
  };
  return { lines: lines.size, owners: owners.size, waiting, unused: count.unused, timers: [...timers.running.values()] };
}
