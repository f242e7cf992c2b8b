package io.lockkeeper.server.app;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Keeps a directory to one process: two ZooKeeper servers on the same files would destroy them, and
 * two coordinators with one home would take each other for dead.
 */
final class DirectoryLock implements AutoCloseable {

  private final FileChannel channel;

  private DirectoryLock(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * Makes the directory if need be, and takes it.
   *
   * @throws StartException if it cannot be made or written, or another process has it
   */
  static DirectoryLock take(Path directory) {
    FileChannel channel;
    try {
      Files.createDirectories(directory);
      channel =
          FileChannel.open(
              directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw new StartException("cannot write to the data directory " + directory + ": " + e, e);
    }
    try {
      FileLock lock = channel.tryLock();
      if (lock != null) {
        return new DirectoryLock(channel);
      }
    } catch (OverlappingFileLockException e) {
      closeAfterFailure(channel, e);
      throw inUse(directory, e);
    } catch (IOException e) {
      closeAfterFailure(channel, e);
      throw new StartException("cannot lock the data directory " + directory + ": " + e, e);
    }
    IllegalStateException held = new IllegalStateException("the file lock is held");
    closeAfterFailure(channel, held);
    throw inUse(directory, held);
  }

  private static StartException inUse(Path directory, Exception cause) {
    return new StartException(
        "another process uses the data directory " + directory + "; stop it, or give --data-dir",
        cause);
  }

  private static void closeAfterFailure(FileChannel channel, Exception failure) {
    try {
      channel.close();
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
  }

  /** Gives the directory back. */
  @Override
  public void close() throws IOException {
    channel.close();
  }
}
