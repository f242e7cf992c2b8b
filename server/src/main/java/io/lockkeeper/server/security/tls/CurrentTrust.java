package io.lockkeeper.server.security.tls;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Optional;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/** Believes whom the authorities of the moment believe; nobody, if there are none. */
final class CurrentTrust extends X509ExtendedTrustManager {

  private final Supplier<Optional<X509ExtendedTrustManager>> current;

  CurrentTrust(Supplier<Optional<X509ExtendedTrustManager>> current) {
    this.current = current;
  }

  private X509ExtendedTrustManager now() throws CertificateException {
    return current
        .get()
        .orElseThrow(() -> new CertificateException("this server has no authorities for callers"));
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    now().checkClientTrusted(chain, authType);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    now().checkClientTrusted(chain, authType, socket);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    now().checkClientTrusted(chain, authType, engine);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    now().checkServerTrusted(chain, authType);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    now().checkServerTrusted(chain, authType, socket);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    now().checkServerTrusted(chain, authType, engine);
  }

  /**
   * Names none. The names are only a hint to clients which certificate to show, and are taken once:
   * with the first ones for good, a client of a new authority would keep its certificate to itself.
   */
  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return new X509Certificate[0];
  }
}
