package io.lockkeeper.client.internal.transport;

import io.grpc.ChannelCredentials;
import io.grpc.CompositeChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Opens gRPC channels, encrypted or not.
 *
 * @param credentials makes those of each channel
 */
public record Transport(Supplier<ChannelCredentials> credentials) {

  /** The shortest that gRPC takes. The lease's own keep-alives detect a dead server sooner. */
  private static final int PING_SECONDS = 10;

  private static final int PONG_SECONDS = 5;

  /**
   * Who the client is.
   *
   * @param certificateChain PEM
   * @param privateKey PEM
   */
  public record Identity(Path certificateChain, Path privateKey) {}

  public static Transport plaintext() {
    return new Transport(InsecureChannelCredentials::create);
  }

  /**
   * Makes a transport over TLS. The files are read again for each channel, so that a client that
   * lives longer than its certificate goes on with the next one.
   *
   * @throws IllegalArgumentException if one cannot be read now
   */
  public static Transport tls(Optional<Path> trustedCertificates, Optional<Identity> identity) {
    Transport transport = new Transport(() -> read(trustedCertificates, identity));
    var unused = transport.credentials.get();
    return transport;
  }

  private static ChannelCredentials read(
      Optional<Path> trustedCertificates, Optional<Identity> identity) {
    TlsChannelCredentials.Builder files = TlsChannelCredentials.newBuilder();
    try {
      if (trustedCertificates.isPresent()) {
        files.trustManager(trustedCertificates.get().toFile());
      }
      if (identity.isPresent()) {
        files.keyManager(
            identity.get().certificateChain().toFile(), identity.get().privateKey().toFile());
      }
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "cannot read the TLS files: " + e.getMessage(), new UncheckedIOException(e));
    }
    return files.build();
  }

  /** Returns a transport that sends a token with every call besides. */
  public Transport with(BearerToken token) {
    return new Transport(() -> CompositeChannelCredentials.create(credentials.get(), token));
  }

  /** Opens a channel to a server. */
  public ManagedChannel connect(Endpoint server) {
    ManagedChannelBuilder<?> builder = server.channelBuilder(credentials.get());
    builder
        .keepAliveTime(PING_SECONDS, TimeUnit.SECONDS)
        .keepAliveTimeout(PONG_SECONDS, TimeUnit.SECONDS)
        .keepAliveWithoutCalls(true)
        .directExecutor() // All callbacks of gRPC pass to the client's loop at once.
        .disableRetry(); // The client itself tries again; gRPC would keep copies for that.
    return IoThreads.shared().build(builder);
  }
}
