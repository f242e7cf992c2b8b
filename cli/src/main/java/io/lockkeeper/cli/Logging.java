package io.lockkeeper.cli;

/**
 * Sets how much is logged. Must come before the first logger is made: the backend reads it once.
 */
final class Logging {

  private static final String PROPERTY = "lockkeeper.log.level";

  private Logging() {}

  /** Logs this level and above, unless whoever started the process has said otherwise. */
  static void level(String level) {
    if (System.getProperty(PROPERTY) == null) {
      System.setProperty(PROPERTY, level);
    }
  }
}
