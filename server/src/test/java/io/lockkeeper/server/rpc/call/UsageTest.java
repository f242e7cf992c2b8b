package io.lockkeeper.server.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.security.Limits;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How requests are counted over time, and when an account is forgotten. */
class UsageTest {

  private static final Limits FEW =
      new Limits(
          1,
          1,
          1,
          1,
          1,
          1,
          1,
          1,
          10,
          1,
          Duration.ofSeconds(1),
          Duration.ofSeconds(1),
          Duration.ZERO);

  private long now;
  private final Usage usage = new Usage(() -> now);

  @Test
  void whoSavesASecondOfRequestsIsToldWhenTheNextMayCome() {
    // Given
    Usage.Account account = usage.of("token:a");
    for (int i = 0; i < 10; i++) {
      assertThat(account.request(FEW, 1)).isZero();
    }
    // When
    long wait = account.request(FEW, 1);
    // Then
    assertThat(wait).isEqualTo(TimeUnit.MILLISECONDS.toNanos(100));
    assertThat(account.tooManyRequests(FEW, wait).retryAfter()).isEqualTo(Duration.ofMillis(100));
    now += wait;
    assertThat(account.request(FEW, 1)).isZero();
  }

  @Test
  void requestThatCountsMoreThanIsSavedComesAloneAndThoseAfterItWait() {
    // Given
    Usage.Account account = usage.of("token:a");
    assertThat(account.request(FEW, 2)).isZero();
    // When
    long wait = account.request(FEW, 50);
    // Then
    assertThat(wait).isEqualTo(TimeUnit.MILLISECONDS.toNanos(100));
    now += wait;
    assertThat(account.request(FEW, 50)).isZero();
    assertThat(account.request(FEW, 1)).isEqualTo(TimeUnit.MILLISECONDS.toNanos(4_200));
  }

  @Test
  void strangersAreCountedByAddressAndOfIpv6ByThoseThatOneHostMayHave() {
    assertThat(Usage.accountAt("10.0.0.7:51844")).isEqualTo("10.0.0.7");
    assertThat(Usage.accountAt("2001:db8:1:2:3:4:5:6:51844"))
        .isEqualTo(Usage.accountAt("2001:db8:1:2:9:9:9:9:80"))
        .isNotEqualTo(Usage.accountAt("2001:db8:1:3:3:4:5:6:51844"));
    assertThat(Usage.accountAt("in-process")).isEqualTo("in-process");
  }

  @Test
  void accountIsForgottenOnceItHasNothingAndItsRequestsAreLongAgo() {
    // Given
    Usage.Account account = usage.of("token:a");
    account.openStream(FEW);
    assertThat(account.request(FEW, 1)).isZero();
    // When
    now += TimeUnit.SECONDS.toNanos(10);
    usage.forgetIdle();
    // Then
    assertThat(usage.size()).isEqualTo(1);
    // When
    account.closeStream();
    usage.forgetIdle();
    // Then
    assertThat(usage.size()).isZero();
  }
}
