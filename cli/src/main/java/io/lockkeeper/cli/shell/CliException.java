package io.lockkeeper.cli.shell;

/**
 * Ends the command with an exit code and one or a few human-readable lines, without a stack trace.
 */
public final class CliException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final int exitCode;

  /** Makes one with what to say, and without a cause. */
  public CliException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  /** Makes one with what to say. */
  public CliException(int exitCode, String message, Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  /** Returns the exit code to end with. */
  public int exitCode() {
    return exitCode;
  }
}
