package io.lockkeeper.server.web;

import io.lockkeeper.server.security.Audit;
import io.lockkeeper.server.security.Authenticator;
import io.lockkeeper.server.security.Identity;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Where the web page and the API, which name locks, are served over TLS, and to whom.
 *
 * @param host the host name or address to bind
 * @param port the port, zero for any free one
 * @param keys the server's certificates and keys
 * @param clients says which certificates of visitors are believed; empty: none is asked for
 * @param identities says whose a believed chain of certificates is, or throws an {@link
 *     io.lockkeeper.server.security.UnauthenticatedException} that says why it is no client's
 * @param authenticator says whose a token is, as a bearer token or as the password of Basic
 *     authentication
 * @param audit hears of visitors of whom nobody knows who they are
 */
public record PagesSettings(
    String host,
    int port,
    X509ExtendedKeyManager keys,
    Optional<X509ExtendedTrustManager> clients,
    Function<List<X509Certificate>, Identity> identities,
    Authenticator authenticator,
    Audit audit) {

  /** Checks the port. */
  public PagesSettings {
    HttpSettings.checkPort(port);
  }
}
