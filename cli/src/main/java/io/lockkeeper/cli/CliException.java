package io.lockkeeper.cli;

/**
 * Ends the command with an exit code and one or a few human-readable lines, without a stack trace.
 */
final class CliException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final int exitCode;

  CliException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  CliException(int exitCode, String message, Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  /** Returns the exit code to end with. */
  int exitCode() {
    return exitCode;
  }
}
