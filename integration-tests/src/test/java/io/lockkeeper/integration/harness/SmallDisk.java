package io.lockkeeper.integration.harness;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A file system of its own that can be filled to the last byte. */
public final class SmallDisk implements AutoCloseable {

  private static final byte[] CHUNK = new byte[4_096];

  private final Path directory;
  private final Path filling;

  private SmallDisk(Path directory) {
    this.directory = directory;
    this.filling = directory.resolve("filling");
  }

  /** Mounts one of so many MiB; empty if this process may not. */
  public static Optional<SmallDisk> mount(int mebibytes) {
    Path directory = Scratch.directory("small-disk");
    String size = "size=" + mebibytes + "m";
    if (run("mount", "-t", "tmpfs", "-o", size, "lockkeeper-test", directory.toString()) != 0) {
      return Optional.empty();
    }
    SmallDisk disk = new SmallDisk(directory);
    Runtime.getRuntime().addShutdownHook(new Thread(disk::close));
    return Optional.of(disk);
  }

  /** Returns where it is mounted. */
  public Path directory() {
    return directory;
  }

  /** Leaves no room on it. */
  public void fill() {
    try (OutputStream out = Files.newOutputStream(filling)) {
      while (true) {
        out.write(CHUNK);
      }
    } catch (IOException full) {
      if (!String.valueOf(full.getMessage()).contains("No space left")) {
        throw new UncheckedIOException(full);
      }
    }
  }

  /** Gives back what {@link #fill} took. */
  public void empty() {
    try {
      Files.deleteIfExists(filling);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Unmounts it, as soon as nobody uses it. Idempotent. */
  @Override
  public void close() {
    run("umount", "-l", directory.toString());
  }

  private static int run(String... command) {
    try {
      return new ProcessBuilder(command)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException missing) {
      return -1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return -1;
    }
  }
}
