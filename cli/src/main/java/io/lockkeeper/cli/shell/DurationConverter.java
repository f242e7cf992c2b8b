package io.lockkeeper.cli.shell;

import io.lockkeeper.server.app.Durations;
import java.time.Duration;
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
