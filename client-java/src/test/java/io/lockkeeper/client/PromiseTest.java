package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.internal.lease.LeaseKey;
import io.lockkeeper.client.internal.lease.Promise;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.v1.SessionKeptAlive;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What a server promises about a lease, and what a client opens one with. */
class PromiseTest {

  private static SessionKeptAlive.Builder kept(Duration validFor) {
    return SessionKeptAlive.newBuilder().setValidFor(Protos.toProto(validFor));
  }

  @Test
  void withoutAWordOfTheServerItIsAQuarterOfTheValidityAndHalfASecondAtLeast() {
    assertThat(Promise.of(kept(Duration.ofSeconds(8)).build()).intervalNanos())
        .isEqualTo(Duration.ofSeconds(2).toNanos());
    assertThat(Promise.of(kept(Duration.ofSeconds(1)).build()).intervalNanos())
        .isEqualTo(Duration.ofMillis(500).toNanos());
  }

  @Test
  void keysAreHexadecimalAndNeverTheSame() {
    // When
    LeaseKey first = LeaseKey.random();
    LeaseKey second = LeaseKey.random();
    // Then
    assertThat(first.secret()).matches("[0-9a-f]{32}").isNotEqualTo(second.secret());
    assertThat(first.toString()).doesNotContain(first.secret());
  }
}
