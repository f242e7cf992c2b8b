package io.lockkeeper.server.rpc;

import io.grpc.InsecureServerCredentials;
import io.grpc.ServerCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.TlsServerCredentials.ClientAuth;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Reads what the server proves itself with, and what it demands of clients. */
final class Credentials {

  private Credentials() {}

  /**
   * Returns plaintext credentials, TLS, or mutual TLS, as the files given demand.
   *
   * @throws IOException if a file cannot be read; the message names it
   */
  static ServerCredentials of(Optional<GrpcSettings.Tls> tls) throws IOException {
    if (tls.isEmpty()) {
      return InsecureServerCredentials.create();
    }
    GrpcSettings.Tls files = tls.get();
    TlsServerCredentials.Builder builder = TlsServerCredentials.newBuilder();
    builder.keyManager(
        readable("certificate chain", files.certificateChain()).toFile(),
        readable("private key", files.privateKey()).toFile());
    if (files.clientCa().isPresent()) {
      builder
          .trustManager(readable("client CA", files.clientCa().get()).toFile())
          .clientAuth(ClientAuth.REQUIRE);
    }
    return builder.build();
  }

  private static Path readable(String what, Path file) throws IOException {
    if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
      throw new IOException("the " + what + " cannot be read: " + file);
    }
    return file;
  }
}
