package io.lockkeeper.server.rpc;

import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettySslContextChannelCredentials;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.lockkeeper.server.rpc.forward.PeerSetup;
import io.lockkeeper.server.security.tls.TlsFiles;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Connects to peers: they are servers like this one, and are spoken to as this one is. */
final class PeerCredentials {

  private static final int CONNECT_MILLIS = 2_000;

  private PeerCredentials() {}

  /**
   * Returns what connects to peers: in plaintext if this server speaks plaintext. Otherwise over
   * TLS, with this server's own certificate to show, to peers that {@link TlsFiles#servers}
   * believes. A connection uses the files that are there when it is made.
   *
   * @throws IOException if this machine cannot do that
   */
  static PeerSetup.Dialer dialer(Optional<GrpcSettings.Tls> tls) throws IOException {
    ChannelCredentials credentials =
        tls.isPresent() ? credentials(tls.get().files()) : InsecureChannelCredentials.create();
    return address ->
        NettyChannelBuilder.forTarget(target(address), credentials)
            .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
            // No more often than this server's own rules permit.
            .keepAliveTime(10, TimeUnit.SECONDS)
            .keepAliveTimeout(5, TimeUnit.SECONDS)
            .disableRetry();
  }

  /** The constructor escapes the brackets of an IPv6 address, which a path must not contain. */
  private static String target(String address) {
    try {
      return new URI("dns", "", "/" + address, null).toString();
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private static ChannelCredentials credentials(TlsFiles files) throws IOException {
    return NettySslContextChannelCredentials.create(
        Credentials.withoutResumption(
            GrpcSslContexts.forClient()
                .protocols(Credentials.PROTOCOLS)
                .keyManager(files.keys())
                .trustManager(files.servers())));
  }
}
