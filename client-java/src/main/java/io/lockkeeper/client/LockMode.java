package io.lockkeeper.client;

/** The kind of a hold. */
public enum LockMode {
  /** A kind that this client does not know; never in a request. */
  UNKNOWN,
  /** One holder at a time: the mutex. */
  EXCLUSIVE,
  /** Shared with other readers; excludes writers. */
  READ,
  /** The writing side of the read/write lock: excludes readers and writers. */
  WRITE,
  /** Some permits of a limit: the semaphore. */
  PERMITS,
  /** A mode of a kind that the server was extended with, named by a text. */
  CUSTOM
}
