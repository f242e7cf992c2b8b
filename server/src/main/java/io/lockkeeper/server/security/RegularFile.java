package io.lockkeeper.server.security;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file that is read again while the server runs. */
public final class RegularFile {

  private RegularFile() {}

  /**
   * Returns the file's content.
   *
   * @throws IOException if it cannot be read, has more than {@code maxBytes}, or is not a regular
   *     file: reading a pipe can block, and a second time there is nothing in it
   */
  public static byte[] read(Path file, int maxBytes) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new IOException("it is not a regular file");
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] content = in.readNBytes(maxBytes + 1);
      if (content.length > maxBytes) {
        throw new IOException("it has more than " + maxBytes + " bytes");
      }
      return content;
    }
  }
}
