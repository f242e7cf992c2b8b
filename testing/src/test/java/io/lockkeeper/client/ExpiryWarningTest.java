package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.testing.InMemoryLockkeeper;
import io.lockkeeper.testing.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The warning of the deadline comes before every expiry, and only then. */
class ExpiryWarningTest {

  @ParameterizedTest
  @ValueSource(longs = {5, 14, 15, 60})
  void warningThatIsTooLongComesOnceBeforeExpiryAndNotBetweenKeepAlives(long warningSeconds) {
    // Given
    ManualClock clock = new ManualClock();
    Recording heard = new Recording();
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start(clock);
        LockkeeperClient client =
            server
                .clientBuilder()
                .ttl(Duration.ofSeconds(15))
                .expiryWarning(Duration.ofSeconds(warningSeconds))
                .callbackExecutor(Runnable::run)
                .build()) {
      CompletableFuture<LockHandle> held =
          client.acquire(LockRequest.of("orders/42").listener(heard));
      clock.advance(Duration.ofMinutes(1));
      List<String> whileRenewed = heard.events();
      // When
      server.freeze();
      clock.advance(Duration.ofMinutes(1));
      // Then
      assertThat(held.join().isValid()).isFalse();
      assertThat(whileRenewed).containsExactly("granted");
      assertThat(heard.events())
          .containsExactly("granted", "about to expire", "lost DEADLINE_PASSED");
    }
  }
}
