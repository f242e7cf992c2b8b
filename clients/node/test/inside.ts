/** What tests of locks that are kept look at. */
import { NotAcquiredError, type Client } from 'lockkeeper';

export function isNotAcquired(reason: string): (error: unknown) => boolean {
  return (error) => error instanceof NotAcquiredError && error.reason === reason;
}

interface Keeper {
  lines: Map<string, unknown>;
  owners: Map<string, unknown>;
  waiting: number;
  unused: number;
  timers: { running: Map<string, unknown> };
  handedOn: number;
  lease: { acquisitions: Map<string, { isWanted?: boolean; handedOnUntil: number }> };
}

function keeperOf(one: Client): Keeper {
  return (one as unknown as { core: { keeper: Keeper } }).core.keeper;
}

/** Requests that wait in the client for a contended lock have ten minutes to get it, not one second. The client has asked for a lock before. */
export function longTurns(one: Client): void {
  keeperOf(one).handedOn = 600_000;
}

/** Ends that time by the clock: no timer has run. */
export function endTurns(one: Client): void {
  for (const kept of keeperOf(one).lease.acquisitions.values()) {
    if (kept.isWanted === true) {
      kept.handedOnUntil = 0;
    }
  }
}

/** What the keeper of a client has: a test looks for what it should have let go of. */
export function inside(one: Client): { lines: number; owners: number; waiting: number; unused: number; timers: unknown[] } {
  const { lines, owners, waiting, unused, timers } = keeperOf(one);
  return { lines: lines.size, owners: owners.size, waiting, unused, timers: [...timers.running.values()] };
}
