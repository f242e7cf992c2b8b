package io.lockkeeper.server.security.tls;

import io.lockkeeper.server.security.RegularFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a PEM file had in it when it was read.
 *
 * @param file where it is, for messages
 * @param text all of it
 */
record PemText(Path file, String text) {

  private static final int MAX_BYTES = 1 << 20;
  private static final List<String> KEY_ALGORITHMS = List.of("EC", "RSA");
  private static final Pattern CERTIFICATE = block("CERTIFICATE");
  private static final Pattern BEGIN_CERTIFICATE = Pattern.compile("-----BEGIN CERTIFICATE-----");
  private static final Pattern KEY = block("PRIVATE KEY");

  private static Pattern block(String label) {
    return Pattern.compile("-----BEGIN " + label + "-----([^-]*)-----END " + label + "-----");
  }

  /**
   * Reads a file.
   *
   * @throws IOException if it cannot be read or is too large; the message names it
   */
  static PemText read(Path file) throws IOException {
    try {
      return new PemText(
          file, new String(RegularFile.read(file, MAX_BYTES), StandardCharsets.ISO_8859_1));
    } catch (IOException e) {
      String why = Files.exists(file) ? String.valueOf(e.getMessage()) : "it does not exist";
      throw new IOException(file + " cannot be read: " + why, e);
    }
  }

  /** Returns an error about this file. */
  IOException error(String why) {
    return new IOException(file + ": " + why);
  }

  /**
   * Returns all certificates, in the order of the file.
   *
   * @throws IOException if there is none, or one is malformed or cut off
   */
  List<X509Certificate> certificates() throws IOException {
    List<X509Certificate> found = new ArrayList<>();
    try {
      CertificateFactory factory = CertificateFactory.getInstance("X.509");
      Matcher blocks = CERTIFICATE.matcher(text);
      while (blocks.find()) {
        byte[] der = Base64.getMimeDecoder().decode(blocks.group(1));
        found.add((X509Certificate) factory.generateCertificate(new ByteArrayInputStream(der)));
      }
    } catch (CertificateException | IllegalArgumentException e) {
      throw new IOException(
          file + ": certificate " + (found.size() + 1) + " is malformed: " + e.getMessage(), e);
    }
    if (found.isEmpty()) {
      throw error("it has no certificate in PEM");
    }
    if (found.size() < BEGIN_CERTIFICATE.matcher(text).results().count()) {
      throw error("a certificate in it begins and does not end");
    }
    return found;
  }

  /**
   * Returns the private key.
   *
   * @throws IOException if there is none that can be used
   */
  PrivateKey key() throws IOException {
    Matcher block = KEY.matcher(text);
    if (block.find()) {
      try {
        byte[] der = Base64.getMimeDecoder().decode(block.group(1));
        for (String algorithm : KEY_ALGORITHMS) {
          Optional<PrivateKey> key = key(algorithm, der);
          if (key.isPresent()) {
            return key.get();
          }
        }
      } catch (GeneralSecurityException | IllegalArgumentException e) {
        throw new IOException(file + ": the key is malformed: " + e.getMessage(), e);
      }
    }
    throw error("it has no unencrypted PKCS#8 key (EC or RSA) in PEM");
  }

  /** Only the attempt tells which algorithm a key is for. */
  private static Optional<PrivateKey> key(String algorithm, byte[] der)
      throws GeneralSecurityException {
    try {
      return Optional.of(
          KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der)));
    } catch (InvalidKeySpecException e) {
      return Optional.empty();
    }
  }

  /** Says where it is, and never what is in it: that may be a key. */
  @Override
  public String toString() {
    return file.toString();
  }
}
