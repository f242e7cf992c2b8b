package io.lockkeeper.cli.shell;

/**
 * What the program's exit codes mean. Those above 64 follow BSD's {@code sysexits.h} where it has a
 * word for them.
 */
public final class ExitCodes {

  /** Done. */
  public static final int OK = 0;

  /** It failed, and the message says why. */
  public static final int FAILED = 1;

  /** The command line or a setting is wrong. */
  public static final int USAGE = 2;

  /** Nobody holds the lock that was asked about: as {@code systemctl is-active} says "inactive". */
  public static final int FREE = 3;

  /** ZooKeeper cannot be used: its data is older than recorded, or a setting of it does not fit. */
  public static final int UNFIT_ZOOKEEPER = 65;

  /** No server could be reached, or none could serve. */
  public static final int UNAVAILABLE = 69;

  /** The lock was not acquired: the wait ran out, the queue is full, it would be a deadlock… */
  public static final int NOT_ACQUIRED = 73;

  /** The lock was lost, or about to be, while the command ran, and the command was ended. */
  public static final int LOST = 75;

  /** The command was found and could not be run. */
  public static final int NOT_EXECUTABLE = 126;

  /** The command was not found. */
  public static final int NOT_FOUND = 127;

  private ExitCodes() {}
}
