package io.lockkeeper.server.security.tls;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;

/**
 * What the server shows of itself, checked.
 *
 * @param chain its certificate, then those that signed it
 * @param key its key
 */
record ServerCertificate(List<X509Certificate> chain, PrivateKey key) {

  private static final byte[] SAMPLE = {1, 2, 3};

  /** Copies the chain. */
  ServerCertificate {
    chain = List.copyOf(chain);
  }

  /**
   * Takes certificate and key from their files.
   *
   * @throws IOException if they cannot be used now, or not together; the message names the file
   */
  static ServerCertificate of(PemText chainFile, PemText keyFile, Instant now) throws IOException {
    List<X509Certificate> chain = chainFile.certificates();
    for (X509Certificate certificate : chain) {
      checkValid(chainFile, certificate, now);
    }
    checkOrder(chainFile, chain);
    PrivateKey key = keyFile.key();
    if (!matches(key, chain.get(0))) {
      throw keyFile.error("the key is not that of the certificate in " + chainFile.file());
    }
    return new ServerCertificate(chain, key);
  }

  private static void checkValid(PemText file, X509Certificate certificate, Instant now)
      throws IOException {
    Instant from = certificate.getNotBefore().toInstant();
    Instant until = certificate.getNotAfter().toInstant();
    if (now.isAfter(until)) {
      throw file.error("the certificate of " + name(certificate) + " has expired, on " + until);
    }
    if (now.isBefore(from)) {
      throw file.error("the certificate of " + name(certificate) + " is not valid before " + from);
    }
  }

  private static void checkOrder(PemText file, List<X509Certificate> chain) throws IOException {
    for (int i = 1; i < chain.size(); i++) {
      if (!Authorities.hasSigned(chain.get(i), chain.get(i - 1))) {
        throw file.error(
            "the chain is not in order: certificate "
                + (i + 1)
                + ", of "
                + name(chain.get(i))
                + ", has not signed the one before, of "
                + name(chain.get(i - 1))
                + "; the server's own comes first, then that of its signer, and so on");
      }
    }
  }

  private static boolean matches(PrivateKey key, X509Certificate certificate) {
    try {
      Signature signature =
          Signature.getInstance(
              key.getAlgorithm().equals("EC") ? "SHA256withECDSA" : "SHA256withRSA");
      signature.initSign(key);
      signature.update(SAMPLE);
      byte[] signed = signature.sign();
      signature.initVerify(certificate.getPublicKey());
      signature.update(SAMPLE);
      return signature.verify(signed);
    } catch (GeneralSecurityException e) {
      return false; // of another algorithm than the certificate's
    }
  }

  private static String name(X509Certificate certificate) {
    return Authorities.name(certificate);
  }
}
