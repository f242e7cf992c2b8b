package io.lockkeeper.server.security;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file that lines are appended to. Before it gets too large it is renamed to {@code NAME.1}, that
 * one to {@code NAME.2} and so on; the last that is kept is overwritten. A new file can be read by
 * its owner and group only.
 */
final class AuditFile implements AuditLog.Sink {

  private final Path file;
  private final long maxBytes;
  private final int keep;
  private @Nullable OutputStream out;
  private long size;
  private boolean torn;

  /** Opens the file, which goes on where it ended. */
  AuditFile(Path file, long maxBytes, int keep) throws IOException {
    this.file = file;
    this.maxBytes = maxBytes;
    this.keep = keep;
    this.out = open();
  }

  /** Returns the standard output, which is never closed. */
  static AuditLog.Sink standardOutput() {
    OutputStream out = new FileOutputStream(FileDescriptor.out);
    return new AuditLog.Sink() {
      @Override
      public void write(byte[] line) throws IOException {
        out.write(line);
      }

      @Override
      public void close() {}
    };
  }

  private OutputStream open() throws IOException {
    FileAttribute<?>[] attributes =
        file.getFileSystem().supportedFileAttributeViews().contains("posix")
            ? new FileAttribute<?>[] {
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r-----"))
            }
            : new FileAttribute<?>[0];
    OutputStream opened =
        Channels.newOutputStream(
            Files.newByteChannel(
                file, Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND), attributes));
    size = Files.size(file);
    return opened;
  }

  @Override
  public void write(byte[] line) throws IOException {
    OutputStream current = out == null ? open() : out;
    out = current;
    if (size > 0 && size + line.length > maxBytes) {
      current = rotated(current);
    }
    try {
      if (torn) {
        current.write('\n');
        torn = false;
      }
      current.write(line);
    } catch (IOException e) {
      torn = true; // a disk that is full may have taken the beginning
      throw e;
    }
    size += line.length;
  }

  private OutputStream rotated(OutputStream full) throws IOException {
    out = null; // whatever fails, the next line opens the file again
    full.close();
    for (int i = keep; i > 0; i--) {
      Path from = i == 1 ? file : numbered(i - 1);
      if (Files.exists(from)) {
        Files.move(from, numbered(i), StandardCopyOption.REPLACE_EXISTING);
      }
    }
    if (keep == 0) {
      Files.delete(file);
    }
    OutputStream fresh = open();
    out = fresh;
    return fresh;
  }

  private Path numbered(int number) {
    return file.resolveSibling(file.getFileName() + "." + number);
  }

  @Override
  public void close() throws IOException {
    if (out != null) {
      out.close();
    }
  }
}
