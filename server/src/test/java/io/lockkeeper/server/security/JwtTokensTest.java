package io.lockkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.OctetSequenceKey;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which JWTs are taken, with real keys and signatures. */
class JwtTokensTest {

  private static final Instant NOW = Instant.parse("2026-06-01T12:00:00Z");
  private static final RSAKey RSA = rsa("rsa");
  private static final RSAKey OTHER_RSA = rsa("rsa");
  private static final ECKey EC = ec("ec", Curve.P_256);
  private static final ECKey EC_384 = ec("ec384", Curve.P_384);

  private final SettableKeys keys = new SettableKeys(RSA, EC_384, EC);
  private Instant now = NOW;

  private final Clock clock =
      new Clock() {
        @Override
        public Instant instant() {
          return now;
        }

        @Override
        public ZoneOffset getZone() {
          return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
          return this;
        }
      };

  private final BearerTokens tokens =
      new BearerTokens(
          Optional.of(
              new JwtTokens(
                  new JwtTokens.Terms("https://idp.example", "lockkeeper", Duration.ofSeconds(30)),
                  keys,
                  clock)),
          Optional.empty());

  /** Keys that change when told, and count who missed one. */
  private static final class SettableKeys implements JwtKeys {
    private JWKSet set;
    private int asked;
    private int missed;

    SettableKeys(JWK... keys) {
      set = publicSet(keys);
    }

    static JWKSet publicSet(JWK... keys) {
      return JwtKeys.parse(
          new JWKSet(List.of(keys)).toString(false).getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public JWKSet current() {
      asked++;
      return set;
    }

    @Override
    public void onUnknownKey() {
      missed++;
    }
  }

  private static RSAKey rsa(String id) {
    try {
      return new RSAKeyGenerator(2048).keyID(id).generate();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  private static ECKey ec(String id, Curve curve) {
    try {
      return new ECKeyGenerator(curve).keyID(id).generate();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  private static JWTClaimsSet claims(UnaryOperator<JWTClaimsSet.Builder> change) {
    return change
        .apply(
            new JWTClaimsSet.Builder()
                .issuer("https://idp.example")
                .audience("lockkeeper")
                .subject("shop-1")
                .expirationTime(Date.from(NOW.plusSeconds(300))))
        .build();
  }

  private static String signed(
      JWSAlgorithm algorithm, String keyId, JWSSigner signer, JWTClaimsSet claims) {
    try {
      SignedJWT jwt = new SignedJWT(new JWSHeader.Builder(algorithm).keyID(keyId).build(), claims);
      jwt.sign(signer);
      return jwt.serialize();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String signed(JWSAlgorithm algorithm, JWK key, JWTClaimsSet claims) {
    try {
      JWSSigner signer =
          key instanceof RSAKey rsa ? new RSASSASigner(rsa) : new ECDSASigner((ECKey) key);
      return signed(algorithm, key.getKeyID(), signer, claims);
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String good(UnaryOperator<JWTClaimsSet.Builder> change) {
    return signed(JWSAlgorithm.ES256, EC, claims(change));
  }

  private static final String CLAIMS =
      "{\"iss\":\"https://idp.example\",\"aud\":\"lockkeeper\",\"sub\":\"shop-1\",%s}";

  /** Claims that the library would not write. */
  private static String signedText(String claims) {
    try {
      JWSObject jws =
          new JWSObject(
              new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("ec").build(), new Payload(claims));
      jws.sign(new ECDSASigner(EC));
      return jws.serialize();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  private void assertRefused(String token, String why) {
    assertThatThrownBy(() -> tokens.ofBearerToken(token, "10.0.0.7"))
        .isInstanceOf(UnauthenticatedException.class)
        .hasMessageContaining(why)
        .satisfies(
            refusal -> {
              for (String part : token.split("\\.")) {
                if (part.length() > 8) {
                  assertThat(refusal.getMessage()).doesNotContain(part);
                }
              }
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384"})
  void goodTokenIsItsSubjects(String algorithm) {
    // Given
    JWK key =
        switch (algorithm) {
          case "ES256" -> EC;
          case "ES384" -> EC_384;
          default -> RSA;
        };
    String token = signed(JWSAlgorithm.parse(algorithm), key, claims(c -> c));
    // When // Then
    assertThat(tokens.ofBearerToken(token, "10.0.0.7")).isEqualTo(Identity.of("jwt:shop-1"));
  }

  @Test
  void accessTokenOfOauthIsTaken() throws JOSEException {
    // Given
    SignedJWT jwt =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.ES256)
                .keyID("ec")
                .type(new JOSEObjectType("at+jwt"))
                .build(),
            claims(c -> c));
    jwt.sign(new ECDSASigner(EC));
    // When // Then
    assertThat(tokens.ofBearerToken(jwt.serialize(), "10.0.0.7").name()).isEqualTo("jwt:shop-1");
  }

  @Test
  void tokenOfAnotherTypeIsRefused() throws JOSEException {
    // Given
    SignedJWT jwt =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.ES256)
                .keyID("ec")
                .type(new JOSEObjectType("secevent+jwt"))
                .build(),
            claims(c -> c));
    jwt.sign(new ECDSASigner(EC));
    // When // Then
    assertRefused(jwt.serialize(), "its type or signature is wrong");
  }

  @Test
  void tokenThatNamesNoKeyIsTriedWithEach() throws JOSEException {
    // Given
    String token = signed(JWSAlgorithm.ES256, null, new ECDSASigner(EC), claims(c -> c));
    // When // Then
    assertThat(tokens.ofBearerToken(token, "10.0.0.7").name()).isEqualTo("jwt:shop-1");
  }

  @Test
  void audienceMayBeOneOfSeveral() {
    // Given
    String token = good(c -> c.audience(List.of("other", "lockkeeper")));
    // When // Then
    assertThat(tokens.ofBearerToken(token, "10.0.0.7").name()).isEqualTo("jwt:shop-1");
  }

  @Test
  void tokenCountsUntilItsExpiryAndTheSkewAndWhatHasNoneUntilItIsWithdrawn() {
    // Given
    String token = good(c -> c.expirationTime(Date.from(NOW)));
    // When // Then
    assertThat(tokens.expiryOf(token, "10.0.0.7")).contains(NOW.plusSeconds(30));
    assertThat(Authenticator.NONE.expiryOf(token, "10.0.0.7")).isEmpty();
  }

  @Test
  void clocksMayDifferByTheSkewAndNoMore() {
    // Given
    String token = good(c -> c.expirationTime(Date.from(NOW)));
    String early = good(c -> c.notBeforeTime(Date.from(NOW.plusSeconds(31))));
    // When // Then
    now = NOW.plusSeconds(29);
    assertThat(tokens.ofBearerToken(token, "10.0.0.7").name()).isEqualTo("jwt:shop-1");
    assertThat(tokens.ofBearerToken(early, "10.0.0.7").name()).isEqualTo("jwt:shop-1");
    now = NOW.plusSeconds(31);
    assertRefused(token, "it has expired");
    now = NOW;
    assertRefused(good(c -> c.notBeforeTime(Date.from(NOW.plusSeconds(32)))), "before use time");
  }

  @Test
  void expiredTokenIsRefused() {
    assertRefused(good(c -> c.expirationTime(Date.from(NOW.minusSeconds(31)))), "it has expired");
  }

  @Test
  void rememberedTokenIsRefusedOnceItExpires() {
    // Given
    String token = good(c -> c);
    tokens.ofBearerToken(token, "10.0.0.7");
    // When
    now = NOW.plusSeconds(331);
    // Then
    assertRefused(token, "it has expired");
  }

  @Test
  void wrongOrMissingClaimIsRefused() {
    assertRefused(good(c -> c.issuer("https://evil.example")), "iss claim");
    assertRefused(good(c -> c.issuer(null)), "iss");
    assertRefused(good(c -> c.audience("other")), "aud claim");
    assertRefused(good(c -> c.audience((String) null)), "aud");
    assertRefused(good(c -> c.expirationTime(null)), "[exp]");
    assertRefused(good(c -> c.subject(null)), "[sub]");
    assertRefused(good(c -> c.subject("")), "its sub must be text");
    assertRefused(good(c -> c.subject("a\nb")), "no control characters");
    assertRefused(good(c -> c.subject("a\u202eb")), "no control characters");
    assertRefused(good(c -> c.subject("a".repeat(509))), "1 to 512 bytes, this one has 513");
    assertRefused(good(c -> c.claim("exp", "tomorrow")), "it is not a signed JWT");
    assertRefused(signedText(CLAIMS.formatted("\"exp\":null")), "its exp must be a number");
    assertRefused(signedText(CLAIMS.formatted("\"exp\":NaN")), "it is not a signed JWT");
    assertRefused(
        signedText(CLAIMS.formatted("\"exp\":1,\"exp\":9999999999")), "it is not a signed JWT");
  }

  @Test
  void tokenWithoutASignatureIsRefused() {
    // Given
    String plain = new PlainJWT(claims(c -> c)).serialize();
    String[] parts = good(c -> c).split("\\.");
    // When // Then
    assertRefused(plain, "it is not a signed JWT");
    assertRefused(parts[0] + "." + parts[1] + ".", "not a signed JWT");
    assertRefused(base64("{\"alg\":\"none\"}") + "." + parts[1] + "." + parts[2], "not a signed");
    assertRefused(base64("{\"alg\":\"nOnE\"}") + "." + parts[1] + "." + parts[2], "its algorithm");
  }

  @Test
  void publicKeyIsNoSecret() throws JOSEException {
    // Given: what everybody can read, used as the key of an HMAC
    byte[] publicKey = RSA.toRSAPublicKey().getEncoded();
    String token = signed(JWSAlgorithm.HS256, "rsa", new MACSigner(publicKey), claims(c -> c));
    // When // Then
    assertRefused(token, "its algorithm is none of [RS256,");
  }

  @Test
  void secretInTheKeySetIsNoKey() throws JOSEException {
    // Given
    OctetSequenceKey secret =
        new OctetSequenceKey.Builder(new byte[32]).keyID("s").keyUse(KeyUse.SIGNATURE).build();
    keys.set = SettableKeys.publicSet(RSA, secret);
    // When // Then
    assertThat(keys.set.getKeys()).hasSize(1);
    assertRefused(
        signed(JWSAlgorithm.HS256, "s", new MACSigner(new byte[32]), claims(c -> c)),
        "its algorithm");
  }

  @Test
  void keyThatIsForEncryptionIsNoKey() throws JOSEException {
    // Given
    ECKey encryption = new ECKey.Builder(EC).keyUse(KeyUse.ENCRYPTION).build();
    keys.set = SettableKeys.publicSet(RSA, encryption);
    // When // Then
    assertRefused(good(c -> c), "unknown key");
  }

  @Test
  void anothersSignatureIsRefused() {
    assertRefused(signed(JWSAlgorithm.RS256, OTHER_RSA, claims(c -> c)), "its signature is wrong");
  }

  @Test
  void unknownKeyIsRefusedAndAskedFor() {
    // Given
    String token = signed(JWSAlgorithm.ES256, ec("new", Curve.P_256), claims(c -> c));
    // When // Then
    assertRefused(token, "it is signed with an unknown key; try again");
    assertThat(keys.missed).isEqualTo(1);
  }

  @Test
  void keyInTheTokenItselfIsNotBelieved() throws JOSEException {
    // Given
    ECKey own = ec("own", Curve.P_256);
    SignedJWT jwt =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.ES256).jwk(own.toPublicJWK()).build(),
            claims(c -> c));
    jwt.sign(new ECDSASigner(own));
    // When // Then
    assertRefused(jwt.serialize(), "its signature is wrong");
  }

  @Test
  void headerThatMustBeUnderstoodAndIsNotIsRefused() throws JOSEException {
    // Given
    SignedJWT jwt =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.ES256)
                .keyID("ec")
                .criticalParams(Set.of("x"))
                .customParam("x", 1)
                .build(),
            claims(c -> c));
    jwt.sign(new ECDSASigner(EC));
    // When // Then
    assertRefused(jwt.serialize(), "its signature is wrong");
  }

  @Test
  void tamperedTokenIsRefusedWhateverWasChanged() {
    // Given
    String[] good = good(c -> c).split("\\.");
    String[] admin = good(c -> c.subject("admin")).split("\\.");
    // When // Then
    assertRefused(good[0] + "." + admin[1] + "." + good[2], "its signature is wrong");
    assertRefused(good[0] + "." + good[1] + "." + admin[2], "its signature is wrong");
  }

  @Test
  void tokenThatWasNotYetSignedByAKnownKeyIsTakenOnceItIsKnown() {
    // Given
    ECKey fresh = ec("fresh", Curve.P_256);
    String before = good(c -> c);
    String after = signed(JWSAlgorithm.ES256, fresh, claims(c -> c));
    assertRefused(after, "unknown key");
    // When
    keys.set = SettableKeys.publicSet(EC, fresh);
    // Then
    assertThat(tokens.ofBearerToken(before, "10.0.0.7").name()).isEqualTo("jwt:shop-1");
    assertThat(tokens.ofBearerToken(after, "10.0.0.7").name()).isEqualTo("jwt:shop-1");
  }

  @Test
  void rememberedTokenOfAKeyThatWasWithdrawnIsRefused() {
    // Given
    String token = good(c -> c);
    tokens.ofBearerToken(token, "10.0.0.7");
    // When
    keys.set = SettableKeys.publicSet(RSA);
    // Then
    assertRefused(token, "unknown key");
  }

  @Test
  void verifiedTokenIsRememberedAndNotVerifiedAgain() {
    // Given
    String token = good(c -> c);
    tokens.ofBearerToken(token, "10.0.0.7");
    int asked = keys.asked;
    // When
    tokens.ofBearerToken(token, "10.0.0.7");
    // Then: asked which keys there are, and not for one of them
    assertThat(keys.asked - asked).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x",
        "..",
        "a.b.c",
        ".....",
        "e30.e30.e30",
        "\u0000.\u0000.\u0000",
        "a.b.c.d.e",
        " . . "
      })
  void garbageIsNoJwt(String garbage) {
    assertRefused(garbage, "it is not a signed JWT");
  }

  @Test
  void tokenIsTakenInOneSpellingOnly() {
    // Given
    String token = good(c -> c);
    char last = token.charAt(token.length() - 1);
    // When // Then
    assertRefused(token + "!!", "it is not a signed JWT");
    assertRefused(token + "==", "it is not a signed JWT");
    assertRefused(token + "\n", "it is not a signed JWT");
    assertRefused(token.replaceFirst("\\.", "=."), "it is not a signed JWT");
    // Two or four bits of the last character are spare, and zero.
    assertRefused(
        token.substring(0, token.length() - 1) + (char) (last + 1), "it is not a signed JWT");
    assertThat(tokens.ofBearerToken(token, "10.0.0.7").name()).isEqualTo("jwt:shop-1");
  }

  @Test
  void addressWithTooManyInvalidTokensGetsNoneVerifiedUntilTheNextSecond() {
    // Given
    String known = good(c -> c.subject("known"));
    tokens.ofBearerToken(known, "10.0.0.7");
    String forged = signed(JWSAlgorithm.ES256, ec("ec", Curve.P_256), claims(c -> c));
    for (int i = 0; i < JwtTokens.MAX_FAILURES; i++) {
      assertRefused(forged, "its signature is wrong");
    }
    // When // Then: what is remembered, and other addresses, are not affected
    String good = good(c -> c);
    assertThatThrownBy(() -> tokens.ofBearerToken(good, "10.0.0.7"))
        .isInstanceOf(TooManyFailuresException.class)
        .hasMessageContaining("100 tokens with invalid signatures");
    assertThat(tokens.ofBearerToken(known, "10.0.0.7").name()).isEqualTo("jwt:known");
    assertThat(tokens.ofBearerToken(good, "10.0.0.8").name()).isEqualTo("jwt:shop-1");
    String later = good(c -> c.subject("later"));
    now = NOW.plusSeconds(1);
    assertThat(tokens.ofBearerToken(later, "10.0.0.7").name()).isEqualTo("jwt:later");
  }

  @Test
  void forgedTokenThatFitsManyKeysCountsOnce() {
    // Given: no key is named
    keys.set =
        SettableKeys.publicSet(
            IntStream.range(0, JwtKeys.MAX_KEYS)
                .mapToObj(i -> i == 0 ? EC : ec("ec" + i, Curve.P_256))
                .toArray(JWK[]::new));
    String forged = withoutKeyId(ec("ec", Curve.P_256), claims(c -> c));
    // When
    assertRefused(forged, "its signature is wrong");
    // Then
    assertThat(tokens.ofBearerToken(good(c -> c), "10.0.0.7").name()).isEqualTo("jwt:shop-1");
  }

  @Test
  void expiredTokensBlockNoOtherTokensOfTheirAddress() {
    // Given
    String expired = good(c -> c.expirationTime(Date.from(NOW.minusSeconds(31))));
    String early = good(c -> c.notBeforeTime(Date.from(NOW.plusSeconds(31))));
    // When
    for (int i = 0; i < JwtTokens.MAX_FAILURES; i++) {
      assertRefused(expired, "it has expired");
      assertRefused(early, "JWT before use time");
    }
    // Then: a rejection is remembered for a second only
    assertThat(tokens.ofBearerToken(good(c -> c), "10.0.0.7").name()).isEqualTo("jwt:shop-1");
    now = NOW.plusSeconds(2);
    assertThat(tokens.ofBearerToken(early, "10.0.0.7").name()).isEqualTo("jwt:shop-1");
  }

  private static String withoutKeyId(ECKey key, JWTClaimsSet claims) {
    try {
      return signed(JWSAlgorithm.ES256, null, new ECDSASigner(key), claims);
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void rsaKeyThatIsTooSmallIsNoKey() throws JOSEException {
    // Given
    RSAKey small = new RSAKeyGenerator(1024, true).keyID("small").generate();
    // When // Then
    assertThatThrownBy(() -> SettableKeys.publicSet(small))
        .hasMessageContaining("at least 2048 bits");
  }

  @Test
  void emptyTokenIsRefused() {
    assertThatThrownBy(() -> tokens.ofBearerToken("", "10.0.0.7"))
        .hasMessage("the bearer token is empty");
  }

  @Test
  void hugeTokenIsRefusedUnread() {
    // Given
    int asked = keys.asked;
    // When // Then
    assertRefused("x".repeat(100_000), "has 100000 characters, more than 16384");
    assertThat(keys.asked).isEqualTo(asked);
  }

  @Test
  void deeplyNestedTokenIsNoJwt() {
    // Given
    String nested =
        base64("{\"a\":" + "[".repeat(8_000) + "]".repeat(3_000) + "}").substring(0, 10_000);
    // When // Then
    assertRefused(nested + ".e30.e30", "it is not a signed JWT");
    assertRefused(base64("{\"alg\":\"ES256\"}") + "." + nested + ".e30", "it is not a signed JWT");
  }

  @Property(tries = 1_000, seed = "4711")
  void tokenWithAnyCharacterChangedIsNeverTaken(@ForAll long seed) {
    // Given
    Random random = new Random(seed);
    StringBuilder token = new StringBuilder(MUTATED);
    int place = random.nextInt(token.length());
    char other = "ABCxyz019-_.{\"\u00e4 ".charAt(random.nextInt(16));
    if (token.charAt(place) == other) {
      return;
    }
    // When
    token.setCharAt(place, other);
    // Then
    assertThatThrownBy(() -> tokens.ofBearerToken(token.toString(), "of try " + seed))
        .isInstanceOf(UnauthenticatedException.class);
  }

  private static final String MUTATED = good(c -> c);

  private static String base64(String text) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
