package io.lockkeeper.server.security.tls;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * Shows the certificate that is the newest when a handshake begins. The alias says which one that
 * was, so that its key is found even if it is replaced during the handshake.
 */
final class CurrentKeys extends X509ExtendedKeyManager {

  private final TlsFiles files;

  CurrentKeys(TlsFiles files) {
    this.files = files;
  }

  private X509ExtendedKeyManager now() {
    return files.current().keys();
  }

  @Override
  public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
    return now().getClientAliases(keyType, issuers);
  }

  @Override
  public @Nullable String chooseClientAlias(
      String[] keyTypes, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return now().chooseClientAlias(keyTypes, issuers, socket);
  }

  @Override
  public @Nullable String chooseEngineClientAlias(
      String[] keyTypes, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
    return now().chooseEngineClientAlias(keyTypes, issuers, engine);
  }

  @Override
  public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
    return now().getServerAliases(keyType, issuers);
  }

  @Override
  public @Nullable String chooseServerAlias(
      String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return now().chooseServerAlias(keyType, issuers, socket);
  }

  @Override
  public @Nullable String chooseEngineServerAlias(
      String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
    return now().chooseEngineServerAlias(keyType, issuers, engine);
  }

  @Override
  public X509Certificate @Nullable [] getCertificateChain(String alias) {
    X509Certificate[] chain = now().getCertificateChain(alias);
    return chain != null ? chain : files.previous().keys().getCertificateChain(alias);
  }

  @Override
  public @Nullable PrivateKey getPrivateKey(String alias) {
    PrivateKey key = now().getPrivateKey(alias);
    return key != null ? key : files.previous().keys().getPrivateKey(alias);
  }
}
