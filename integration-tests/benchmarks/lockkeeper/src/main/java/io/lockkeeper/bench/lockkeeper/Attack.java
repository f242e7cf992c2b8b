package io.lockkeeper.bench.lockkeeper;

/** Something that a hostile client does without end. */
interface Attack {

  /** Begins, and returns when all that it needs is there. */
  void begin() throws InterruptedException;

  /** Ends; what it has left behind ends by itself. */
  void end();
}
