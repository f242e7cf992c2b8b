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

/** Opens gRPC channels, encrypted or not. */
public record Transport(ChannelCredentials credentials) {

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
    return new Transport(InsecureChannelCredentials.create());
  }

  /** Makes a transport over TLS. */
  public static Transport tls(Optional<Path> trustedCertificates, Optional<Identity> identity) {
    TlsChannelCredentials.Builder credentials = TlsChannelCredentials.newBuilder();
    try {
      if (trustedCertificates.isPresent()) {
        credentials.trustManager(trustedCertificates.get().toFile());
      }
      if (identity.isPresent()) {
        credentials.keyManager(
            identity.get().certificateChain().toFile(), identity.get().privateKey().toFile());
      }
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "cannot read the TLS files: " + e.getMessage(), new UncheckedIOException(e));
    }
    return new Transport(credentials.build());
  }

  /** Returns a transport that sends a token with every call besides. */
  public Transport with(BearerToken token) {
    return new Transport(CompositeChannelCredentials.create(credentials, token));
  }

  /** Opens a channel to a server. */
  public ManagedChannel connect(Endpoint server) {
    ManagedChannelBuilder<?> builder = server.channelBuilder(credentials);
    builder
        .keepAliveTime(PING_SECONDS, TimeUnit.SECONDS)
        .keepAliveTimeout(PONG_SECONDS, TimeUnit.SECONDS)
        .keepAliveWithoutCalls(true)
        .directExecutor() // All callbacks of gRPC pass to the client's loop at once.
        .disableRetry(); // The client itself tries again; gRPC would keep copies for that.
    return IoThreads.shared().build(builder);
  }
}
