package io.lockkeeper.server.app;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What is logged, and how.
 *
 * @param format how a line is written
 * @param level what is logged where nothing else is said, in upper case
 * @param levels what is logged by loggers of these names and those below them, in upper case
 */
public record LogSettings(LogFormat format, String level, Map<String, String> levels) {

  private static final List<String> LEVELS = List.of("error", "warn", "info", "debug", "trace");
  private static final List<String> FORMATS =
      Arrays.stream(LogFormat.values()).map(format -> lower(format.name())).toList();
  private static final Pattern LOGGER = Pattern.compile("[A-Za-z_]\\w*(\\.[A-Za-z_]\\w*)*");
  private static final int MAX_LOGGERS = 100;

  /** Copies the levels. */
  public LogSettings {
    levels = Map.copyOf(levels);
  }

  static LogSettings of(SettingValues values) {
    SettingValue format = values.get(Setting.LOG_FORMAT);
    String name = lower(format.text());
    if (!FORMATS.contains(name)) {
      throw format.error("\"" + format.text() + "\" is neither " + String.join(" nor ", FORMATS));
    }
    return levels(LogFormat.valueOf(name.toUpperCase(Locale.ROOT)), values.get(Setting.LOG_LEVEL));
  }

  private static LogSettings levels(LogFormat format, SettingValue value) {
    String[] items = value.text().split(",", -1);
    if (items.length > MAX_LOGGERS) {
      throw value.error("has more than " + MAX_LOGGERS + " levels");
    }
    String root = level(items[0], value);
    Map<String, String> levels = new TreeMap<>();
    for (String item : Arrays.asList(items).subList(1, items.length)) {
      int equals = item.indexOf('=');
      String logger = item.substring(0, Math.max(0, equals)).strip();
      if (!LOGGER.matcher(logger).matches()) {
        throw value.error(
            "\""
                + item
                + "\" is no logger and its level, such as io.lockkeeper.server.zookeeper=debug");
      }
      if (levels.put(logger, level(item.substring(equals + 1), value)) != null) {
        throw value.error("the logger " + logger + " has two levels");
      }
    }
    return new LogSettings(format, root, levels);
  }

  private static String level(String text, SettingValue value) {
    String level = lower(text.strip());
    if (!LEVELS.contains(level)) {
      throw value.error("\"" + text + "\" is none of " + String.join(", ", LEVELS));
    }
    return level.toUpperCase(Locale.ROOT);
  }

  private static String lower(String text) {
    return text.toLowerCase(Locale.ROOT);
  }
}
