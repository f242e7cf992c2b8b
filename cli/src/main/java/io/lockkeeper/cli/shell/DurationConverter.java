package io.lockkeeper.cli.shell;

import io.lockkeeper.server.app.Durations;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a duration option, and writes it into messages. */
public final class DurationConverter implements ITypeConverter<Duration> {

  @Override
  public Duration convert(String text) {
    try {
      return Durations.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }

  /** Reads the same, and a number without a unit as seconds, as flock(1) does. */
  public static final class OrSeconds implements ITypeConverter<Duration> {
    private static final Pattern SECONDS = Pattern.compile("\\d{1,9}(\\.\\d{1,3})?");

    @Override
    public Duration convert(String text) {
      return SECONDS.matcher(text).matches()
          ? Duration.ofMillis(new BigDecimal(text).movePointRight(3).longValueExact())
          : new DurationConverter().convert(text);
    }
  }

  /**
   * Checks the range of an option's value.
   *
   * @throws CliException if it is out of it
   */
  public static void require(String option, Duration value, Duration least, Duration most) {
    if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
      throw new CliException(
          ExitCodes.USAGE,
          option
              + ": must be "
              + Durations.format(least)
              + " to "
              + Durations.format(most)
              + ", is "
              + Durations.format(value));
    }
  }

  /** Returns the message, however long the duration is: the server says what is too long. */
  public static com.google.protobuf.Duration toMessage(Duration duration) {
    return com.google.protobuf.Duration.newBuilder()
        .setSeconds(duration.toSeconds())
        .setNanos(duration.toNanosPart())
        .build();
  }
}
