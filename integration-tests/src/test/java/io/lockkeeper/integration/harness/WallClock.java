package io.lockkeeper.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;

/**
 * The wall clock of processes under test, which a test may set. As on a host whose clock is set,
 * timed waits and the monotonic clock go on as they were.
 */
public final class WallClock {

  private final Path library;
  private final Path file;
  private final MappedByteBuffer offset;

  private WallClock(Path library, Path file, MappedByteBuffer offset) {
    this.library = library;
    this.file = file;
    this.offset = offset;
  }

  /** Returns a clock that is right; skips the test loudly if the library is not installed. */
  public static WallClock right() {
    Path library = Polyglot.assumeFile("build/bin/wall-clock.so");
    Path file = Scratch.directory("clock").resolve("offset");
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MappedByteBuffer offset = channel.map(MapMode.READ_WRITE, 0, Long.BYTES);
      offset.order(ByteOrder.nativeOrder());
      return new WallClock(library, file, offset);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the environment of a process that reads this clock. */
  public Map<String, String> environment() {
    return Map.of("LD_PRELOAD", library.toString(), "WALL_CLOCK_OFFSET", file.toString());
  }

  /** Sets the clock: from now on it is fast by so much, or slow if that is negative. */
  public void set(Duration fast) {
    offset.putLong(0, fast.toSeconds());
  }
}
