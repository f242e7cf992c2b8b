package io.lockkeeper.cli.shell;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import io.lockkeeper.server.app.LogFormat;
import io.lockkeeper.server.app.LogSettings;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;
import org.slf4j.bridge.SLF4JBridgeHandler;

/**
 * Sets what is logged, and how. The first call must come before the first logger is made: the
 * backend reads its configuration once. What logs by way of {@code java.util.logging} is taken in.
 */
public final class Logging {

  private static final String LEVEL = "lockkeeper.log.level";
  private static final String ENCODER = "lockkeeper.log.encoder";

  /** What loggers had before they were given a level, by name; {@code OFF} never is one. */
  private static final Map<String, Level> BEFORE = new TreeMap<>();

  private Logging() {}

  /** Logs this level and above, unless whoever started the process has said otherwise. */
  public static void level(String level) {
    if (System.getProperty(LEVEL) == null) {
      System.setProperty(LEVEL, level);
    }
    SLF4JBridgeHandler.removeHandlersForRootLogger();
    SLF4JBridgeHandler.install();
  }

  /** Logs as a server's settings say. */
  public static void start(LogSettings settings) {
    if (settings.format() == LogFormat.JSON) {
      System.setProperty(ENCODER, JsonLines.class.getName());
    }
    level(settings.level());
    setLevels(settings.levels());
  }

  /** Logs at other levels from now on; the format stays. For any thread. */
  public static void change(LogSettings settings) {
    backend().getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.toLevel(settings.level()));
    setLevels(settings.levels());
  }

  private static synchronized void setLevels(Map<String, String> levels) {
    LoggerContext loggers = backend();
    BEFORE.forEach(
        (name, level) -> loggers.getLogger(name).setLevel(level == Level.OFF ? null : level));
    BEFORE.clear();
    levels.forEach(
        (name, level) -> {
          Logger logger = loggers.getLogger(name);
          BEFORE.put(name, logger.getLevel() == null ? Level.OFF : logger.getLevel());
          logger.setLevel(Level.toLevel(level));
        });
  }

  private static LoggerContext backend() {
    ILoggerFactory factory = LoggerFactory.getILoggerFactory();
    if (factory instanceof LoggerContext backend) {
      return backend;
    }
    throw new IllegalStateException("this program logs by Logback, not by " + factory.getClass());
  }
}
