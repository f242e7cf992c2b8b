package io.lockkeeper.integration.harness;

import io.lockkeeper.server.rpc.Certificates.Signed;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;

/** TLS of the JDK for clients that show what they like, also what no library would let them. */
public final class TlsContexts {

  private TlsContexts() {}

  /** Returns one that shows no certificate, for servers that the authority has signed. */
  public static SSLContext trusting(Path authority) {
    return context(authority, new KeyManager[0]);
  }

  /**
   * Returns one that shows a certificate with these behind it, whether they belong there or not.
   */
  public static SSLContext showing(Path authority, Signed own, List<X509Certificate> behind) {
    X509Certificate[] chain = new X509Certificate[1 + behind.size()];
    chain[0] = own.parsed();
    for (int i = 0; i < behind.size(); i++) {
      chain[i + 1] = behind.get(i);
    }
    return context(authority, new KeyManager[] {new Chain(chain, key(own.key()))});
  }

  private static SSLContext context(Path authority, KeyManager[] keys) {
    try {
      KeyStore trusted = KeyStore.getInstance("PKCS12");
      trusted.load(null, null);
      trusted.setCertificateEntry("authority", certificate(authority));
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys, trust.getTrustManagers(), null);
      return context;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Reads a certificate. */
  public static X509Certificate certificate(Path pem) {
    try (InputStream in = Files.newInputStream(pem)) {
      return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static PrivateKey key(Path pem) {
    try {
      String text = Files.readString(pem).replaceAll("-----[^-]*-----", "");
      return KeyFactory.getInstance("EC")
          .generatePrivate(new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(text)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Shows one chain, whoever is asked for. */
  private static final class Chain extends X509ExtendedKeyManager {

    private static final String ALIAS = "own";

    private final X509Certificate[] chain;
    private final PrivateKey key;

    Chain(X509Certificate[] chain, PrivateKey key) {
      this.chain = chain;
      this.key = key;
    }

    @Override
    public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
      return ALIAS;
    }

    @Override
    public String[] getClientAliases(String type, Principal[] issuers) {
      return new String[] {ALIAS};
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
      return chain.clone();
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
      return key;
    }

    @Override
    public String[] getServerAliases(String type, Principal[] issuers) {
      return new String[0];
    }

    @Override
    public String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
      throw new UnsupportedOperationException();
    }
  }
}
