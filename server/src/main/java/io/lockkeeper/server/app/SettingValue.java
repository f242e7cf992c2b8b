package io.lockkeeper.server.app;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A setting's value and where it came from, so that an error names what must be changed.
 *
 * @param setting the setting
 * @param text the value as it was given
 * @param source the flag, variable or file that gave it
 */
record SettingValue(Setting setting, String text, String source) {

  private static final Pattern SIZE = Pattern.compile("(\\d{1,9})(KB|MB|GB)");

  /** Returns whether no value was given and there is no default. */
  boolean isEmpty() {
    return text.isEmpty();
  }

  /** Returns the error that this value is. */
  ConfigException error(String why) {
    return new ConfigException(source + ": " + why);
  }

  /** Returns the value as a duration within bounds, both included. */
  Duration duration(Duration min, Duration max) {
    Duration value = parsed(Durations::parse);
    if (value.compareTo(min) < 0) {
      throw error(text + " is below the minimum of " + Durations.format(min));
    }
    if (value.compareTo(max) > 0) {
      throw error(text + " is above the maximum of " + Durations.format(max));
    }
    return value;
  }

  /** Returns the value as a number within bounds, both included. */
  int count(int min, int max) {
    int value = parsed(SettingValue::parseCount);
    if (value < min) {
      throw error(value + " is below the minimum of " + min);
    }
    if (value > max) {
      throw error(value + " is above the maximum of " + max);
    }
    return value;
  }

  /** Returns the value of a switch. */
  boolean isTrue() {
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default -> throw error("\"" + text + "\" is neither true nor false");
    };
  }

  /** Returns the value as a size in bytes within bounds, both included. */
  long size(long min, long max) {
    long size = parsed(SettingValue::parseSize);
    if (size < min || size > max) {
      throw error(text + " is not within " + sizeText(min) + " to " + sizeText(max));
    }
    return size;
  }

  /** Returns the value as an address. */
  HostPort address() {
    return parsed(HostPort::parse);
  }

  /** Returns the value as a path. */
  Path path() {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw error("\"" + text + "\" is not a path: " + e.getReason());
    }
  }

  /** Returns the value as a file that can be read, or nothing if there is no value. */
  Optional<Path> readableFile() {
    if (isEmpty()) {
      return Optional.empty();
    }
    Path file = path();
    if (!Files.isRegularFile(file)) {
      throw error(file + (Files.exists(file) ? " is not a file" : " does not exist"));
    }
    if (!Files.isReadable(file)) {
      throw error(file + " may not be read");
    }
    return Optional.of(file);
  }

  /**
   * Returns the value as a PEM file that can be read and has a block of that label, or nothing if
   * there is no value.
   *
   * @param label such as {@code CERTIFICATE}
   * @param meaning what the file should be, human-readable
   */
  Optional<Path> pemFile(String label, String meaning) {
    Optional<Path> file = readableFile();
    file.ifPresent(
        path -> {
          if (!contains(path, "-----BEGIN " + label + "-----")) {
            throw error(path + " is not " + meaning);
          }
        });
    return file;
  }

  private boolean contains(Path file, String text) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1).contains(text);
    } catch (IOException e) {
      throw error(file + " cannot be read: " + e.getMessage());
    }
  }

  /** Returns what {@code parser} makes of the text; its refusal becomes ours. */
  <T> T parsed(Function<String, T> parser) {
    try {
      return parser.apply(text);
    } catch (IllegalArgumentException e) {
      throw error(String.valueOf(e.getMessage()));
    }
  }

  private static long parseSize(String text) {
    Matcher matcher = SIZE.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "\""
              + text
              + "\" is not a size: write a whole number and a unit, as in 500KB, 100MB or 1GB");
    }
    int shift =
        switch (matcher.group(2)) {
          case "KB" -> 10;
          case "MB" -> 20;
          default -> 30;
        };
    return Long.parseLong(matcher.group(1)) << shift;
  }

  private static String sizeText(long bytes) {
    return bytes >= 1 << 30 ? (bytes >> 30) + "GB" : (bytes >> 20) + "MB";
  }

  private static int parseCount(String text) {
    if (!text.matches("-?\\d{1,9}")) {
      throw new IllegalArgumentException(
          "\"" + text + "\" is not a whole number of at most 9 digits");
    }
    return Integer.parseInt(text);
  }
}
