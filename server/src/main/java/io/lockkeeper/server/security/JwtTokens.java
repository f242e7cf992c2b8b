package io.lockkeeper.server.security;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.BadJWSException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.BadJWTException;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import com.nimbusds.jwt.proc.ExpiredJWTException;
import java.nio.ByteBuffer;
import java.text.ParseException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds out whose JWT (RFC 7519) it is: signed with one of the provider's keys, by an algorithm
 * with a public key, from the one issuer, for our audience, with an {@code exp} and a {@code sub}
 * that names the identity, {@code jwt:} and the subject.
 *
 * <p>What was verified is remembered by its digest until it expires, so that a call costs a hash
 * and no signature; a change of the keys forgets it all.
 */
public final class JwtTokens {

  /** The longest token, in characters: what fits into the headers of a call. */
  static final int MAX_CHARS = 16 << 10;

  private static final int MAX_REMEMBERED = 10_000;

  /** EdDSA is left out: Nimbus needs another library for it. */
  private static final Set<JWSAlgorithm> ALGORITHMS =
      Collections.unmodifiableSet(
          new LinkedHashSet<>(
              List.of(
                  JWSAlgorithm.RS256,
                  JWSAlgorithm.RS384,
                  JWSAlgorithm.RS512,
                  JWSAlgorithm.PS256,
                  JWSAlgorithm.PS384,
                  JWSAlgorithm.PS512,
                  JWSAlgorithm.ES256,
                  JWSAlgorithm.ES384,
                  JWSAlgorithm.ES512)));

  private final JwtKeys keys;
  private final Clock clock;
  private final Duration clockSkew;
  private final DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();
  private final Map<ByteBuffer, Verified> remembered =
      Collections.synchronizedMap(
          new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<ByteBuffer, Verified> eldest) {
              return size() > MAX_REMEMBERED;
            }
          });

  /** Whose token it is, until when, and by which keys. */
  private record Verified(Identity identity, Instant until, JWKSet by) {}

  /**
   * Says what a token must be.
   *
   * @param issuer its {@code iss}
   * @param audience what its {@code aud} must have
   * @param clockSkew how far the issuer's clock may be from ours
   */
  public record Terms(String issuer, String audience, Duration clockSkew) {}

  /**
   * Takes tokens that fulfil {@code terms} by one of {@code keys}, now being what the clock says.
   */
  public JwtTokens(Terms terms, JwtKeys keys, Clock clock) {
    this.keys = keys;
    this.clock = clock;
    this.clockSkew = terms.clockSkew();
    processor.setJWSTypeVerifier(
        new DefaultJOSEObjectTypeVerifier<>(
            JOSEObjectType.JWT, new JOSEObjectType("at+jwt"), null)); // RFC 9068; absent
    processor.setJWSKeySelector(
        new JWSVerificationKeySelector<>(
            ALGORITHMS, (selector, context) -> selector.select(keys.current())));
    DefaultJWTClaimsVerifier<SecurityContext> claims =
        new DefaultJWTClaimsVerifier<>(
            terms.audience(),
            new JWTClaimsSet.Builder().issuer(terms.issuer()).build(),
            Set.of("exp", "sub")) {
          @Override
          protected Date currentTime() {
            return Date.from(clock.instant());
          }
        };
    claims.setMaxClockSkew(Math.toIntExact(clockSkew.toSeconds()));
    processor.setJWTClaimsSetVerifier(claims);
  }

  /** Returns whether the token looks like a JWT. */
  static boolean isOne(String token) {
    return token.chars().filter(c -> c == '.').count() == 2;
  }

  /**
   * Returns whose token it is.
   *
   * @throws UnauthenticatedException if it is not accepted
   */
  Identity identityOf(String token) {
    return verified(token).identity();
  }

  /**
   * Returns until when the token counts.
   *
   * @throws UnauthenticatedException if it is not accepted
   */
  Instant expiryOf(String token) {
    return verified(token).until();
  }

  @SuppressWarnings("ReferenceEquality") // the same keys are the same object; comparing them costs
  private Verified verified(String token) {
    ByteBuffer digest = ByteBuffer.wrap(Sha256.of(token));
    JWKSet current = keys.current();
    Verified known = remembered.get(digest);
    if (known != null && known.by() == current && clock.instant().isBefore(known.until())) {
      return known;
    }
    Verified verified = verify(token, current);
    remembered.put(digest, verified);
    return verified;
  }

  private Verified verify(String token, JWKSet current) {
    SignedJWT jwt = parse(token);
    if (!ALGORITHMS.contains(jwt.getHeader().getAlgorithm())) {
      throw refused("its algorithm is none of " + ALGORITHMS);
    }
    if (new JWKSelector(JWKMatcher.forJWSHeader(jwt.getHeader())).select(current).isEmpty()) {
      keys.onUnknownKey();
      throw refused("it is signed with an unknown key; try again in some seconds");
    }
    try {
      JWTClaimsSet claims = processor.process(jwt, null);
      Instant until = claims.getExpirationTime().toInstant().plus(clockSkew);
      return new Verified(identity(claims), until, current);
    } catch (ExpiredJWTException e) {
      throw refused("it has expired");
    } catch (BadJWTException e) {
      // Of the verifier of claims: says which claim, and never what it is.
      throw refused(String.valueOf(e.getMessage()));
    } catch (BadJWSException e) {
      throw refused("its signature is wrong");
    } catch (BadJOSEException | JOSEException e) {
      throw refused("its type or signature is wrong");
    }
  }

  /** Parses the claims as well: the messages of what is not one may quote the token. */
  private static SignedJWT parse(String token) {
    try {
      SignedJWT jwt = SignedJWT.parse(token);
      if (jwt.getJWTClaimsSet() != null) {
        return jwt;
      }
      throw new ParseException("no claims", 0);
    } catch (ParseException | RuntimeException e) {
      // Whatever strangers send is at worst not a JWT.
      throw refused("it is not a signed JWT");
    }
  }

  private static Identity identity(JWTClaimsSet claims) {
    String subject = claims.getSubject();
    if (subject == null || subject.isEmpty()) {
      throw refused("its sub must be text, and not empty");
    }
    try {
      return Identity.of("jwt:" + subject);
    } catch (IllegalArgumentException e) {
      throw refused("its sub: " + e.getMessage());
    }
  }

  private static UnauthenticatedException refused(String why) {
    return new UnauthenticatedException("the JWT is not accepted: " + why);
  }
}
