package io.lockkeeper.cli.server;

/**
 * What a check has found.
 *
 * @param level how bad it is
 * @param subject what was looked at: a server, a node, or a matter of the whole ensemble
 * @param message what was found, and what to do about it
 */
record Finding(Level level, String subject, String message) {

  /** How bad a finding is. */
  enum Level {
    /** As it should be, or nothing that can be seen from here. */
    OK(0),
    /** It works, and should be better. */
    WARN(1),
    /** Coordinators cannot serve like this. */
    FAIL(2);

    private final int exitCode;

    Level(int exitCode) {
      this.exitCode = exitCode;
    }

    /** Returns the exit code if this is the worst of all findings. */
    int exitCode() {
      return exitCode;
    }
  }

  static Finding ok(String subject, String message) {
    return new Finding(Level.OK, subject, message);
  }

  static Finding warn(String subject, String message) {
    return new Finding(Level.WARN, subject, message);
  }

  static Finding fail(String subject, String message) {
    return new Finding(Level.FAIL, subject, message);
  }
}
