package io.lockkeeper.server.security.tls;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Authorities whose word is believed.
 *
 * @param certificates theirs
 * @param trust validates chains against them
 */
record Authorities(List<X509Certificate> certificates, X509ExtendedTrustManager trust) {

  /** Copies the certificates. */
  Authorities {
    certificates = List.copyOf(certificates);
  }

  /**
   * Takes authorities from their file: those that have not expired, of which there must be one.
   * Java does not look at the dates of authorities.
   *
   * @throws IOException if there is none; the message names the file
   */
  static Authorities of(PemText file, Instant now) throws IOException {
    List<X509Certificate> valid =
        file.certificates().stream()
            .filter(each -> now.isBefore(each.getNotAfter().toInstant()))
            .toList();
    if (valid.isEmpty()) {
      throw file.error("all authorities in it have expired");
    }
    return of(valid);
  }

  /** Returns authorities that are trusted as they are. */
  static Authorities of(List<X509Certificate> certificates) throws IOException {
    try {
      KeyStore anchors = KeyStore.getInstance(KeyStore.getDefaultType());
      anchors.load(null, null);
      for (X509Certificate certificate : certificates) {
        anchors.setCertificateEntry("authority-" + anchors.size(), certificate);
      }
      return new Authorities(certificates, trust(Optional.of(anchors)));
    } catch (GeneralSecurityException e) {
      throw new IOException("the authorities cannot be used: " + e.getMessage(), e);
    }
  }

  /** Returns those that Java trusts. */
  static Authorities ofJava() throws IOException {
    try {
      X509ExtendedTrustManager trust = trust(Optional.empty());
      return new Authorities(List.of(trust.getAcceptedIssuers()), trust);
    } catch (GeneralSecurityException e) {
      throw new IOException("Java's authorities cannot be used: " + e.getMessage(), e);
    }
  }

  private static X509ExtendedTrustManager trust(Optional<KeyStore> anchors)
      throws GeneralSecurityException {
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(anchors.orElse(null));
    for (TrustManager manager : factory.getTrustManagers()) {
      if (manager instanceof X509ExtendedTrustManager extended) {
        return extended;
      }
    }
    throw new CertificateException("this Java has no manager for X.509");
  }

  /** Returns these and others together. */
  Authorities and(Authorities others) throws IOException {
    return of(Stream.concat(certificates.stream(), others.certificates.stream()).toList());
  }

  /** Returns why a chain that a caller shows is not believed; empty: it is. */
  Optional<String> refusal(List<X509Certificate> chain) {
    try {
      trust.checkClientTrusted(
          chain.toArray(X509Certificate[]::new), chain.get(0).getPublicKey().getAlgorithm());
      return Optional.empty();
    } catch (CertificateException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  /** Returns an authority by which a chain may lead to these and to others as well. */
  Optional<X509Certificate> sharedWith(Authorities others) {
    List<X509Certificate> shared = new ArrayList<>();
    for (X509Certificate ours : certificates) {
      for (X509Certificate theirs : others.certificates) {
        boolean same =
            ours.getSubjectX500Principal().equals(theirs.getSubjectX500Principal())
                && ours.getPublicKey().equals(theirs.getPublicKey());
        if (same || hasSigned(ours, theirs) || hasSigned(theirs, ours)) {
          shared.add(theirs);
        }
      }
    }
    return shared.stream().findFirst();
  }

  /** Returns whether a certificate's owner has signed another certificate. */
  static boolean hasSigned(X509Certificate signer, X509Certificate signed) {
    if (!signed.getIssuerX500Principal().equals(signer.getSubjectX500Principal())) {
      return false;
    }
    try {
      signed.verify(signer.getPublicKey());
      return true;
    } catch (GeneralSecurityException e) {
      return false;
    }
  }

  /** Returns whose a certificate is, for messages. */
  static String name(X509Certificate certificate) {
    return '"' + certificate.getSubjectX500Principal().getName() + '"';
  }
}
