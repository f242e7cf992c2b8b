package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.ServerProcess;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import org.junit.jupiter.api.Test;

/** Tokens that live for seconds, and streams that live for longer. */
final class ExpiringTokensIT {

  private static final int MOVES = 2;
  private static final String SENT_AWAY = "lockkeeper_sessions_sent_away_total";

  /** An identity provider whose tokens live for three seconds. */
  private static final class Provider {

    private final KeyPair keys;
    private volatile boolean withdrawn;

    Provider() throws GeneralSecurityException {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
      generator.initialize(2048);
      keys = generator.generateKeyPair();
    }

    String token() {
      Instant until = Instant.now().plusSeconds(withdrawn ? -60 : 3);
      String signed =
          base64("{\"alg\":\"RS256\",\"kid\":\"k\"}".getBytes(StandardCharsets.UTF_8))
              + "."
              + base64(
                  "{\"iss\":\"https://idp.example\",\"aud\":\"lockkeeper\",\"sub\":\"shop\",\"exp\":%d}"
                      .formatted(until.getEpochSecond())
                      .getBytes(StandardCharsets.UTF_8));
      try {
        Signature signature = Signature.getInstance("SHA256withRSA");
        signature.initSign(keys.getPrivate());
        signature.update(signed.getBytes(StandardCharsets.US_ASCII));
        return signed + "." + base64(signature.sign());
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException(e);
      }
    }

    /** Hands out expired ones from now on. */
    void withdraw() {
      withdrawn = true;
    }

    String keySet() {
      RSAPublicKey key = (RSAPublicKey) keys.getPublic();
      return "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"k\",\"n\":\"%s\",\"e\":\"%s\"}]}"
          .formatted(base64(key.getModulus()), base64(key.getPublicExponent()));
    }

    private static String base64(BigInteger number) {
      return base64(number.toByteArray());
    }

    private static String base64(byte[] bytes) {
      return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
  }

  @Test
  void holderWhoseTokensAreRenewedLosesNothingAndOneWithoutAFreshTokenDoes() throws Exception {
    // Given
    Provider provider = new Provider();
    Path keys = Scratch.directory("keys").resolve("keys.json");
    Files.writeString(keys, provider.keySet());
    try (ServerProcess server =
            Rig.server(
                "/expiring",
                "--jwt-issuer=https://idp.example",
                "--jwt-audience=lockkeeper",
                "--jwt-clock-skew=0s",
                "--jwt-jwks=" + keys);
        LockkeeperClient client =
            LockkeeperClient.builder(server.address())
                .ttl(Duration.ofSeconds(10))
                .bearerToken(provider::token)
                .build()) {
      LockHandle held = client.lock("expiring/held");
      String lease = client.leaseTag();
      // When
      await().until(() -> server.metric(SENT_AWAY) >= MOVES);
      // Then
      assertThat(held.isValid()).isTrue();
      assertThat(client.leaseTag()).isEqualTo(lease);
      assertThat(client.checkToken("expiring/held", held.fencingToken()).current()).isTrue();
      // When
      provider.withdraw();
      // Then
      await().until(() -> !held.isValid());
    }
  }
}
