package io.lockkeeper.server.rpc;

import io.grpc.InsecureServerCredentials;
import io.grpc.ServerCredentials;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettySslContextServerCredentials;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.netty.shaded.io.netty.handler.ssl.OpenSslSessionContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.util.Optional;

/** What the server proves itself with, and what it demands of callers. */
final class Credentials {

  /** What servers and their links to others speak. */
  static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

  static {
    // Tickets, by which clients resume. Netty and the JDK take this as a property only.
    System.getProperties().putIfAbsent("jdk.tls.server.enableSessionTicketExtension", "false");
  }

  private Credentials() {}

  /**
   * Returns plaintext credentials, TLS, or mutual TLS. Of ciphers only those that HTTP/2 allows:
   * authenticated encryption with a key exchange that keeps past secrets.
   *
   * @throws IOException if this machine cannot do that
   */
  static ServerCredentials of(Optional<GrpcSettings.Tls> tls) throws IOException {
    if (tls.isEmpty()) {
      return InsecureServerCredentials.create();
    }
    GrpcSettings.Tls settings = tls.get();
    SslContextBuilder context =
        GrpcSslContexts.configure(SslContextBuilder.forServer(settings.files().keys()))
            .protocols(PROTOCOLS)
            .trustManager(settings.files().callers())
            .clientAuth(clientAuth(settings));
    return NettySslContextServerCredentials.create(withoutResumption(context));
  }

  /**
   * Builds a context in which each connection has a handshake of its own: one that resumes an
   * earlier one goes on with the certificates of that, whatever has been replaced since.
   */
  static SslContext withoutResumption(SslContextBuilder builder) throws IOException {
    SslContext context = builder.sessionTimeout(1).build();
    if (context.sessionContext() instanceof OpenSslSessionContext sessions) {
      sessions.setSessionCacheEnabled(false);
    }
    return context;
  }

  private static ClientAuth clientAuth(GrpcSettings.Tls settings) {
    if (settings.certificateRequired()) {
      return ClientAuth.REQUIRE;
    }
    return settings.files().knowsCallers() ? ClientAuth.OPTIONAL : ClientAuth.NONE;
  }
}
