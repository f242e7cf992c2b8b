package io.lockkeeper.server.app;

/** How a line of the log is written. */
public enum LogFormat {
  /** Time, level, logger, message and key-values, human-readable. */
  TEXT,
  /** One JSON object. */
  JSON
}
