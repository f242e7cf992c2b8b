package io.lockkeeper.server.security;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The public keys with which JWTs may be signed. Asked on any thread; never blocks. */
public interface JwtKeys {

  /** How many keys a set may have: a token that names none is tried with each. */
  int MAX_KEYS = 100;

  /** The smallest RSA key, in bits (RFC 7518, 3.3). */
  int MIN_RSA_BITS = 2048;

  /** Returns the keys that are known now. As long as they are the same it is the same object. */
  JWKSet current();

  /** Hears that a token names a key that is not known: there may be new ones. */
  default void onUnknownKey() {}

  /** Returns the keys of a file. */
  static JwtKeys of(ReloadedFile<JWKSet> file) {
    return file::get; // polled every two seconds: an unknown key has nothing to hasten
  }

  /**
   * Reads a JSON Web Key Set (RFC 7517) and keeps its public keys of RSA, of at least 2048 bits,
   * and of the curves of NIST.
   *
   * @throws IllegalArgumentException if it is not one, or has no such key, or too many
   */
  static JWKSet parse(byte[] content) {
    List<JWK> keys;
    try {
      keys =
          JWKSet.parse(new String(content, StandardCharsets.UTF_8))
              .toPublicJWKSet()
              .getKeys()
              .stream()
              .flatMap(key -> usable(key).stream())
              .toList();
    } catch (ParseException e) {
      throw new IllegalArgumentException("not a JSON Web Key Set: " + e.getMessage(), e);
    }
    if (keys.isEmpty()) {
      throw new IllegalArgumentException(
          "has no public key of RSA with at least "
              + MIN_RSA_BITS
              + " bits, or of P-256, P-384 or P-521");
    }
    if (keys.size() > MAX_KEYS) {
      throw new IllegalArgumentException("has more than " + MAX_KEYS + " keys");
    }
    return new JWKSet(keys);
  }

  private static Optional<JWK> usable(JWK key) {
    if (!(key instanceof ECKey onCurve)) {
      return key instanceof RSAKey rsa && rsa.size() >= MIN_RSA_BITS
          ? Optional.of(key)
          : Optional.empty();
    }
    // Said outright, so that a token that names no key is never tried with one of another curve.
    Optional<JWSAlgorithm> only =
        Stream.of(JWSAlgorithm.ES256, JWSAlgorithm.ES384, JWSAlgorithm.ES512)
            .filter(each -> Curve.forJWSAlgorithm(each).contains(onCurve.getCurve()))
            .findFirst();
    return only.map(algorithm -> new ECKey.Builder(onCurve).algorithm(algorithm).build());
  }
}
