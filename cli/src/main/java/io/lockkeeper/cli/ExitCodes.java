package io.lockkeeper.cli;

/**
 * What the program's exit codes mean. Those above 64 follow BSD's {@code sysexits.h} where it has a
 * word for them.
 */
final class ExitCodes {

  /** Done. */
  static final int OK = 0;

  /** It failed, and the message says why. */
  static final int FAILED = 1;

  /** The command line or a setting is wrong. */
  static final int USAGE = 2;

  /** No server could be reached, or none could serve. */
  static final int UNAVAILABLE = 69;

  /** The lock was not acquired: the wait ran out, the queue is full, it would be a deadlock… */
  static final int NOT_ACQUIRED = 73;

  /** The lock was lost, or about to be, while the command ran, and the command was ended. */
  static final int LOST = 75;

  /** The command was found and could not be run. */
  static final int NOT_EXECUTABLE = 126;

  /** The command was not found. */
  static final int NOT_FOUND = 127;

  private ExitCodes() {}
}
