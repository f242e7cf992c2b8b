package io.lockkeeper.spring.autoconfigure;

import io.grpc.ChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettySslContextChannelCredentials;
import io.grpc.netty.shaded.io.netty.buffer.ByteBufAllocator;
import io.grpc.netty.shaded.io.netty.handler.ssl.ApplicationProtocolConfig;
import io.grpc.netty.shaded.io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.grpc.netty.shaded.io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.grpc.netty.shaded.io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.grpc.netty.shaded.io.netty.handler.ssl.ApplicationProtocolNames;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.netty.shaded.io.netty.handler.ssl.IdentityCipherSuiteFilter;
import io.grpc.netty.shaded.io.netty.handler.ssl.JdkSslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import java.util.Arrays;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;

/** A connection's credentials, of an SSL bundle of the application. */
final class BundleCredentials {

  private static final ApplicationProtocolConfig HTTP_2 =
      new ApplicationProtocolConfig(
          Protocol.ALPN,
          SelectorFailureBehavior.NO_ADVERTISE,
          SelectedListenerFailureBehavior.ACCEPT,
          ApplicationProtocolNames.HTTP_2);

  private BundleCredentials() {}

  /**
   * Makes credentials of what the bundle has now: its stores, protocol, and options.
   *
   * @throws NoSuchSslBundleException if there is no such bundle
   * @throws IllegalArgumentException if something in it cannot be used; the message names the
   *     bundle
   */
  static ChannelCredentials of(SslBundles bundles, String name) {
    SslBundle bundle = bundles.getBundle(name);
    try {
      SslContext context = context(bundle);
      // Ciphers and protocols that the JVM does not know are refused here, not at each connection.
      SSLEngine unused = context.newEngine(ByteBufAllocator.DEFAULT);
      return NettySslContextChannelCredentials.create(context);
    } catch (IllegalArgumentException | IllegalStateException e) {
      throw new IllegalArgumentException(
          "lockkeeper.ssl.bundle: the SSL bundle \""
              + name
              + "\" cannot be used: "
              + e.getMessage(),
          e);
    }
  }

  /** With the JVM's TLS, which is what a bundle is for: BoringSSL ignores ciphers of TLS 1.3. */
  private static SslContext context(SslBundle bundle) {
    SSLContext jvm = bundle.createSslContext();
    String[] ciphers = bundle.getOptions().getCiphers();
    String[] protocols = bundle.getOptions().getEnabledProtocols();
    return new JdkSslContext(
        jvm,
        true,
        ciphers == null ? null : Arrays.asList(ciphers),
        IdentityCipherSuiteFilter.INSTANCE,
        HTTP_2,
        ClientAuth.NONE,
        // Netty's own default would go past the bundle's protocol.
        protocols == null ? jvm.getDefaultSSLParameters().getProtocols() : protocols,
        false);
  }
}
