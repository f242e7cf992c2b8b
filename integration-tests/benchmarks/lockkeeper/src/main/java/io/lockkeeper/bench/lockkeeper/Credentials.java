package io.lockkeeper.bench.lockkeeper;

import io.lockkeeper.client.LockkeeperClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * How a load proves who it is.
 *
 * @param files none: not at all, in plaintext; the server's authority: not at all, encrypted; the
 *     server's authority and a bearer token; or the server's authority, a certificate and its key
 */
record Credentials(List<Path> files) {

  static Credentials of(List<String> files) {
    return new Credentials(files.stream().map(Path::of).toList());
  }

  /** Has a client of the library show them. */
  LockkeeperClientBuilder addTo(LockkeeperClientBuilder builder) {
    return switch (files.size()) {
      case 0 -> builder;
      case 1 -> builder.tls(files.get(0));
      case 2 -> {
        String token = read(files.get(1));
        yield builder.tls(files.get(0)).bearerToken(() -> token);
      }
      case 3 -> builder.mutualTls(files.get(0), files.get(1), files.get(2));
      default -> throw new IllegalArgumentException("neither a token nor a certificate: " + files);
    };
  }

  private static String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
