package io.lockkeeper.server.security.tls;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;

/**
 * What was in all files at one moment, checked, and what follows from it.
 *
 * @param texts the files
 * @param own the server's own certificate
 * @param keys shows it
 * @param clients who signs clients' certificates
 * @param peers who signs coordinators' certificates
 * @param callers both
 * @param servers who is believed when this server calls others
 */
record LoadedFiles(
    Texts texts,
    ServerCertificate own,
    X509ExtendedKeyManager keys,
    Optional<Authorities> clients,
    Optional<Authorities> peers,
    Optional<Authorities> callers,
    Authorities servers) {

  private static final Duration SOON = Duration.ofDays(14);
  private static final int SOON_PART = 4;

  /** All files as they were read. */
  record Texts(PemText chain, PemText key, Optional<PemText> clientCa, Optional<PemText> peerCa) {

    static Texts read(TlsPaths paths) throws IOException {
      return new Texts(
          PemText.read(paths.certificateChain()),
          PemText.read(paths.privateKey()),
          paths.clientCa().isPresent()
              ? Optional.of(PemText.read(paths.clientCa().get()))
              : Optional.empty(),
          paths.peerCa().isPresent()
              ? Optional.of(PemText.read(paths.peerCa().get()))
              : Optional.empty());
    }
  }

  /**
   * Checks the files and takes them.
   *
   * @param alias tells the server's certificate from those before it
   * @throws IOException if one cannot be used; the message names it
   */
  static LoadedFiles of(Texts texts, String alias, Instant now) throws IOException {
    ServerCertificate own = ServerCertificate.of(texts.chain(), texts.key(), now);
    Optional<Authorities> clients = authorities(texts.clientCa(), now);
    Optional<Authorities> peers = authorities(texts.peerCa(), now);
    Optional<Authorities> callers = clients.or(() -> peers);
    if (clients.isPresent() && peers.isPresent()) {
      checkApart(texts, clients.get(), peers.get());
      callers = Optional.of(clients.get().and(peers.get()));
    }
    Optional<Authorities> named = peers.or(() -> clients);
    Authorities servers =
        named.isPresent() ? named.get() : Authorities.of(own.chain()).and(Authorities.ofJava());
    return new LoadedFiles(texts, own, keys(own, alias), clients, peers, callers, servers);
  }

  private static Optional<Authorities> authorities(Optional<PemText> file, Instant now)
      throws IOException {
    return file.isPresent() ? Optional.of(Authorities.of(file.get(), now)) : Optional.empty();
  }

  private static void checkApart(Texts texts, Authorities clients, Authorities peers)
      throws IOException {
    Optional<X509Certificate> shared = clients.sharedWith(peers);
    if (shared.isPresent()) {
      throw texts
          .peerCa()
          .orElseThrow()
          .error(
              "what "
                  + Authorities.name(shared.get())
                  + " signs would be trusted by "
                  + texts.clientCa().orElseThrow().file()
                  + " too: nobody could tell a client from a coordinator. Sign the coordinators' certificates with an"
                  + " authority that signs nothing else, and give that as --peer-ca");
    }
  }

  private static X509ExtendedKeyManager keys(ServerCertificate own, String alias)
      throws IOException {
    char[] password = new char[0];
    try {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      store.setKeyEntry(alias, own.key(), password, own.chain().toArray(X509Certificate[]::new));
      KeyManagerFactory factory =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      factory.init(store, password);
      for (KeyManager manager : factory.getKeyManagers()) {
        if (manager instanceof X509ExtendedKeyManager extended) {
          return extended;
        }
      }
      throw new IOException("this Java has no key manager for X.509");
    } catch (GeneralSecurityException e) {
      throw new IOException("the certificate cannot be used: " + e.getMessage(), e);
    }
  }

  /**
   * Returns the certificate of each file that expires first, by the setting that names the file.
   */
  Map<String, X509Certificate> firstToExpire() {
    Map<String, X509Certificate> first = new LinkedHashMap<>();
    first.put("tls-cert", earliest(own.chain()));
    clients.ifPresent(them -> first.put("tls-client-ca", earliest(them.certificates())));
    peers.ifPresent(them -> first.put("peer-ca", earliest(them.certificates())));
    return first;
  }

  private static X509Certificate earliest(List<X509Certificate> certificates) {
    return certificates.stream()
        .min(Comparator.comparing(X509Certificate::getNotAfter))
        .orElseThrow();
  }

  /** Returns whether a certificate should have been replaced by now. */
  static boolean expiresSoon(X509Certificate certificate, Instant now) {
    Instant until = certificate.getNotAfter().toInstant();
    Duration quarter =
        Duration.between(certificate.getNotBefore().toInstant(), until).dividedBy(SOON_PART);
    Duration soon = quarter.compareTo(SOON) < 0 ? quarter : SOON;
    return Duration.between(now, until).compareTo(soon) < 0;
  }
}
