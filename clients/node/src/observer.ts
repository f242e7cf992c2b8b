import type { Grant } from './events.js';

/** What becomes of one request. Times are milliseconds. All methods may be left out. */
export interface Observation {
  /** The locks are held, after that wait. */
  acquired?(grants: readonly Grant[], waited: number): void;
  /** They were not granted, with what the caller gets. */
  notAcquired?(error: unknown, waited: number): void;
  /** The holder releases them, after that time. */
  released?(held: number): void;
  /** They were lost. */
  lost?(reason: string, held: number): void;
}

/** Is told what a client does, for metrics and traces. What a method throws is reported as a warning of the process, and harms nothing else. */
export interface Observer {
  /** A request begins; called where it is made, so that a span can be begun as a child of the caller's. */
  acquiring?(locks: readonly string[]): Observation | undefined;
  /** A session stream was opened, for a new lease or to resume one. */
  streamOpened?(coordinator: string, resumed: boolean): void;
  /** A session stream has ended. */
  streamLost?(server: string): void;
}

/** @internal Calls what is not ours: what it throws harms nothing. */
export function safely<T>(call: () => T): T | undefined {
  const warn = (error: unknown): void => {
    process.emitWarning(`a callback of a user of locks failed: ${String(error)}`, 'LockkeeperWarning');
  };
  try {
    const result = call();
    if (result instanceof Promise) {
      result.catch(warn);
    }
    return result;
  } catch (error) {
    warn(error);
    return undefined;
  }
}
