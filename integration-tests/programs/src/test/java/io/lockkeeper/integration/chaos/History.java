package io.lockkeeper.integration.chaos;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collection;
import java.util.stream.Collectors;

/**
 * A file of events, one JSON object a line, each with the monotonic time at which it was begun.
 * Every line reaches the kernel before {@link Line#write} returns, so that a kill loses none.
 */
final class History implements AutoCloseable {

  private final FileOutputStream file;

  private History(FileOutputStream file) {
    this.file = file;
  }

  /** Opens a new file. */
  static History at(Path path) {
    try {
      return new History(new FileOutputStream(path.toFile()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Begins an event: its time is now. */
  Line line(String event) {
    return new Line(System.nanoTime(), event);
  }

  private synchronized void write(String text) {
    try {
      file.write(text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public synchronized void close() {
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** One event that is being put together. */
  final class Line {
    private final StringBuilder text = new StringBuilder(160);
    private final long nanos;

    private Line(long nanos, String event) {
      this.nanos = nanos;
      text.append("{\"t\":").append(nanos).append(",\"e\":").append(quoted(event));
    }

    Line with(String key, String value) {
      return raw(key, quoted(value));
    }

    Line with(String key, long value) {
      return raw(key, Long.toString(value));
    }

    Line with(String key, boolean value) {
      return raw(key, Boolean.toString(value));
    }

    Line with(String key, Collection<String> values) {
      return raw(
          key, values.stream().map(History::quoted).collect(Collectors.joining(",", "[", "]")));
    }

    private Line raw(String key, String json) {
      text.append(',').append(quoted(key)).append(':').append(json);
      return this;
    }

    /** Writes it, and returns its time. */
    long write() {
      History.this.write(text.append("}\n").toString());
      return nanos;
    }
  }

  private static String quoted(String value) {
    StringBuilder text = new StringBuilder("\"");
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        text.append('\\').append(c);
      } else if (c < ' ') {
        text.append(' ');
      } else {
        text.append(c);
      }
    }
    return text.append('"').toString();
  }
}
