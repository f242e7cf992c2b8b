package io.lockkeeper.cli.shell;

import ch.qos.logback.classic.encoder.PatternLayoutEncoder;

/**
 * Writes each event of the log as a line: time (ISO 8601, with the zone), level, logger, message,
 * key-values; and a stack trace on the lines behind it, where there is one.
 */
public final class TextLines extends PatternLayoutEncoder {

  /** Makes one, as the configuration of the log asks for. */
  public TextLines() {
    setPattern("%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %-5level %logger{0}: %msg %kvp%n");
  }
}
