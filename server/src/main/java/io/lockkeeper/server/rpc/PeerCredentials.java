package io.lockkeeper.server.rpc;

import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.lockkeeper.server.rpc.forward.PeerSetup;
import io.lockkeeper.server.rpc.wire.Causes;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/** Connects to peers: they are servers like this one, and are spoken to as this one is. */
final class PeerCredentials {

  private static final int CONNECT_MILLIS = 2_000;

  private PeerCredentials() {}

  /**
   * Returns what connects to peers: in plaintext if this server speaks plaintext. Otherwise over
   * TLS, with this server's own certificate to show; peers are trusted whom the authorities for
   * peers have signed, or else those for clients, or else those in this server's own chain and
   * Java's.
   *
   * @throws IOException if a file cannot be used
   */
  static PeerSetup.Dialer dialer(Optional<GrpcSettings.Tls> tls) throws IOException {
    ChannelCredentials credentials =
        tls.isPresent() ? credentials(tls.get()) : InsecureChannelCredentials.create();
    return address ->
        NettyChannelBuilder.forTarget("dns:///" + address, credentials)
            .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
            // No more often than this server's own rules permit.
            .keepAliveTime(10, TimeUnit.SECONDS)
            .keepAliveTimeout(5, TimeUnit.SECONDS)
            .disableRetry();
  }

  private static ChannelCredentials credentials(GrpcSettings.Tls files) throws IOException {
    try {
      return TlsChannelCredentials.newBuilder()
          .keyManager(files.certificateChain().toFile(), files.privateKey().toFile())
          .trustManager(trust(files))
          .build();
    } catch (GeneralSecurityException e) {
      throw new IOException("cannot trust peers: " + Causes.inWords(e), e);
    }
  }

  private static TrustManager[] trust(GrpcSettings.Tls files)
      throws IOException, GeneralSecurityException {
    KeyStore anchors = KeyStore.getInstance(KeyStore.getDefaultType());
    anchors.load(null, null);
    Optional<Path> authorities = files.peerCa().or(files::clientCa);
    addAll(anchors, certificates(authorities.orElse(files.certificateChain())));
    if (authorities.isEmpty()) {
      addAll(anchors, javasOwn());
    }
    return managers(Optional.of(anchors));
  }

  private static void addAll(KeyStore anchors, Iterable<? extends Certificate> certificates)
      throws GeneralSecurityException {
    for (Certificate certificate : certificates) {
      anchors.setCertificateEntry("peer-" + anchors.size(), certificate);
    }
  }

  private static Iterable<? extends Certificate> certificates(Path file)
      throws IOException, GeneralSecurityException {
    try (InputStream in = Files.newInputStream(file)) {
      return CertificateFactory.getInstance("X.509").generateCertificates(in);
    }
  }

  private static Iterable<X509Certificate> javasOwn() throws GeneralSecurityException {
    for (TrustManager manager : managers(Optional.empty())) {
      if (manager instanceof X509TrustManager known) {
        return java.util.List.of(known.getAcceptedIssuers());
      }
    }
    return java.util.List.of();
  }

  private static TrustManager[] managers(Optional<KeyStore> anchors)
      throws GeneralSecurityException {
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(anchors.orElse(null));
    return factory.getTrustManagers();
  }
}
