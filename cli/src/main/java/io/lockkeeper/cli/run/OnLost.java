package io.lockkeeper.cli.run;

/** What to do with the command when its lock is lost. */
enum OnLost {
  /** Send TERM in time before the lock's own deadline, KILL at the deadline. */
  TERM,
  /** Send KILL when the lock is lost. */
  KILL,
  /** Let it run. */
  IGNORE
}
