package io.lockkeeper.server.security;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObject;
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
import com.nimbusds.jose.util.Base64URL;
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
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Finds out whose JWT (RFC 7519) it is: signed with one of the provider's keys, by an algorithm
 * with a public key, from the one issuer, for our audience, with an {@code exp} and a {@code sub}
 * that names the identity, {@code jwt:} and the subject.
 *
 * <p>What was verified is remembered by its digest until it expires, so that a call costs a hash
 * and no signature; a change of the keys forgets it all. A token with a valid signature that is
 * rejected for its claims is remembered for a second. An address that has sent too many tokens with
 * invalid signatures within a second gets no further signature verified in that second.
 */
public final class JwtTokens {

  /** The longest token, in characters: what fits into the headers of a call. */
  static final int MAX_CHARS = 16 << 10;

  /** How many tokens with invalid signatures one address can send in a second. */
  static final int MAX_FAILURES = 100;

  private static final int MAX_REMEMBERED = 10_000;
  private static final Duration REJECTION_REMEMBERED = Duration.ofSeconds(1);

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

  /** Tokens with invalid signatures in the current second, by address. */
  private final Map<String, Integer> failures = new ConcurrentHashMap<>();

  private final AtomicLong second = new AtomicLong();

  /**
   * What is known of a token with a valid signature.
   *
   * @param identity whose it is
   * @param rejection why its claims are not accepted, if they are not
   * @param until how long this is remembered
   * @param by the keys that it was verified with
   */
  private record Verified(
      Identity identity, Optional<String> rejection, Instant until, JWKSet by) {}

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
   * @param address from where it comes
   * @throws UnauthenticatedException if it is not accepted
   * @throws TooManyFailuresException if too many tokens from there were not
   */
  Identity identityOf(String token, String address) {
    return verified(token, address).identity();
  }

  /** Returns until when the token counts; throws the same. */
  Instant expiryOf(String token, String address) {
    return verified(token, address).until();
  }

  @SuppressWarnings("ReferenceEquality") // the same keys are the same object; comparing them costs
  private Verified verified(String token, String address) {
    ByteBuffer digest = ByteBuffer.wrap(Sha256.of(token));
    JWKSet current = keys.current();
    Verified known = remembered.get(digest);
    if (known == null || known.by() != current || !clock.instant().isBefore(known.until())) {
      known = verify(token, address, current);
      remembered.put(digest, known);
    }
    if (known.rejection().isPresent()) {
      throw refused(known.rejection().get());
    }
    return known;
  }

  private Verified verify(String token, String address, JWKSet current) {
    SignedJWT jwt = parse(token);
    if (!ALGORITHMS.contains(jwt.getHeader().getAlgorithm())) {
      throw refused("its algorithm is none of " + ALGORITHMS);
    }
    if (new JWKSelector(JWKMatcher.forJWSHeader(jwt.getHeader())).select(current).isEmpty()) {
      keys.onUnknownKey();
      throw refused("it is signed with an unknown key; try again in some seconds");
    }
    requireFewFailures(address);
    try {
      JWTClaimsSet claims = processor.process(jwt, null);
      Instant until = expiry(claims).plus(clockSkew);
      return new Verified(identity(claims), Optional.empty(), until, current);
    } catch (ExpiredJWTException e) {
      return rejected("it has expired", current);
    } catch (BadJWTException e) {
      // Says which claim, and never what it is.
      return rejected(String.valueOf(e.getMessage()), current);
    } catch (BadJWSException e) {
      throw failed("its signature is wrong", address);
    } catch (BadJOSEException | JOSEException e) {
      throw failed("its type or signature is wrong", address);
    }
  }

  private Verified rejected(String why, JWKSet current) {
    return new Verified(
        Identity.ANONYMOUS, Optional.of(why), clock.instant().plus(REJECTION_REMEMBERED), current);
  }

  private void requireFewFailures(String address) {
    long now = clock.instant().getEpochSecond();
    if (second.getAndSet(now) != now) {
      failures.clear();
    }
    if (failures.getOrDefault(address, 0) >= MAX_FAILURES) {
      throw new TooManyFailuresException(
          "this client's address has sent "
              + MAX_FAILURES
              + " tokens with invalid signatures within a second, which is the limit");
    }
  }

  private UnauthenticatedException failed(String why, String address) {
    failures.merge(address, 1, Integer::sum);
    return refused(why);
  }

  /** Parses the claims as well: the messages of what is not one may quote the token. */
  private static SignedJWT parse(String token) {
    try {
      SignedJWT jwt = SignedJWT.parse(token);
      if (isCanonical(token) && jwt.getJWTClaimsSet() != null) {
        return jwt;
      }
      throw new ParseException("not in base64url, or no claims", 0);
    } catch (ParseException | RuntimeException e) {
      // Whatever strangers send is at worst not a JWT.
      throw refused("it is not a signed JWT");
    }
  }

  /**
   * Returns whether each part is base64url as it is written, of UTF-8 but for the signature. The
   * decoder ignores other characters, padding and spare bits: many texts would be one token.
   */
  private static boolean isCanonical(String token) throws ParseException {
    Base64URL[] parts = JOSEObject.split(token);
    return token.equals(
        Base64URL.encode(parts[0].decodeToString())
            + "."
            + Base64URL.encode(parts[1].decodeToString())
            + "."
            + Base64URL.encode(parts[2].decode()));
  }

  /** A claim that is null counts as one that is there for the verifier of claims. */
  private static Instant expiry(JWTClaimsSet claims) throws BadJWTException {
    Date until = claims.getExpirationTime();
    if (until == null) {
      throw new BadJWTException("its exp must be a number");
    }
    return until.toInstant();
  }

  private static Identity identity(JWTClaimsSet claims) throws BadJWTException {
    String subject = claims.getSubject();
    if (subject == null || subject.isEmpty()) {
      throw new BadJWTException("its sub must be text, and not empty");
    }
    try {
      return Identity.of("jwt:" + subject);
    } catch (IllegalArgumentException e) {
      throw new BadJWTException("its sub: " + e.getMessage(), e);
    }
  }

  private static UnauthenticatedException refused(String why) {
    return new UnauthenticatedException("the JWT is not accepted: " + why);
  }
}
