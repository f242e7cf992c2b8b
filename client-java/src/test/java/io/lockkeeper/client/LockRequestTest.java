package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.client.internal.protocol.SessionRequests;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.DeadlockCheck;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is refused before it is sent. */
class LockRequestTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "a//b",
        "/a",
        "a/",
        "..",
        "a/./b",
        "a\nb",
        "\ud800",
        "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17"
      })
  void malformedNameIsRefused(String name) {
    assertThatThrownBy(() -> LockRequest.of(name)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void lengthOfNamesIsCountedInBytes() {
    // Given // When
    LockRequest longest = LockRequest.of("é".repeat(256));
    // Then
    assertThat(longest.name()).hasSize(256);
    assertThatThrownBy(() -> LockRequest.of("é".repeat(257)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("514");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT-1S", "P8D"})
  void waitLimitOutOfRangeIsRefused(String limit) {
    assertThatThrownBy(() -> LockRequest.of("a").waitAtMost(Duration.parse(limit)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void everyMethodReturnsAChangedCopy() {
    // Given
    LockRequest plain = LockRequest.of("a");
    // When
    LockRequest changed =
        plain.waitAtMost(Duration.ofSeconds(1)).holder("me").metadata("k", "v").metadata("l", "w");
    // Then
    assertThat(plain.waitLimit()).isEmpty();
    assertThat(plain.metadata()).isEmpty();
    assertThat(changed.waitLimit()).contains(Duration.ofSeconds(1));
    assertThat(changed.holder()).contains("me");
    assertThat(changed.metadata()).containsEntry("k", "v").containsEntry("l", "w");
  }

  private static final LockRequest PLAIN = LockRequest.of("a");

  static Stream<Arguments> outOfRange() {
    return Stream.of(
        refused("maxHold", "100 ms", () -> PLAIN.maxHold(Duration.ofMillis(99))),
        refused("maxHold", "7 days", () -> PLAIN.maxHold(Duration.ofDays(8))),
        refused("lockDelay", "1 hour", () -> PLAIN.lockDelay(Duration.ofMinutes(61))),
        refused("lockDelay", "1 hour", () -> PLAIN.lockDelay(Duration.ofMillis(-1))),
        refused("lockDelay", "whole", () -> PLAIN.lockDelay(Duration.ofNanos(1_500_000))),
        refused("reportPositionEvery", "100 ms", () -> PLAIN.reportPositionEvery(Duration.ZERO)),
        refused("owner", "256 bytes", () -> PLAIN.owner("é".repeat(129))),
        refused("owner", "Unicode", () -> PLAIN.owner("\ud800")),
        refused("holder", "256 bytes", () -> PLAIN.holder("x".repeat(257))),
        refused("metadata", "not empty", () -> PLAIN.metadata("", "v")),
        refused("metadata", "4 KiB", () -> PLAIN.metadata("k", "x".repeat(4_096))),
        refused("metadata", "32 entries", LockRequestTest::tooManyEntries),
        refused("permits", "1 to 3", () -> LockSpec.permits("a", 4, 3)),
        refused("permits", "1 to 3", () -> LockSpec.permits("a", 0, 3)),
        refused("permits", "1000000", () -> LockSpec.permits("a", 1_000_001)),
        refused("limit", "1,000,000", () -> LockSpec.permits("a", 1, 1_000_001)),
        refused("limit", "1,000,000", () -> LockSpec.permits("a", 1, 0)),
        refused("permits", "PERMITS", () -> new LockSpec("a", LockMode.READ, 1, 0, "")),
        refused("mode", "request", () -> new LockSpec("a", LockMode.UNKNOWN, 0, 0, "")),
        refused("custom", "name", () -> LockSpec.custom("a", "")),
        refused("custom", "CUSTOM", () -> new LockSpec("a", LockMode.READ, 0, 0, "x")),
        refused("custom", "256 bytes", () -> LockSpec.custom("a", "x".repeat(257))),
        refused("locks", "1 to 64", () -> LockRequest.of(List.of())),
        refused("locks", "1 to 64", LockRequestTest::tooManyLocks),
        refused(
            "locks",
            "once",
            () -> LockRequest.of(LockSpec.exclusive("a"), LockSpec.exclusive("a"))));
  }

  private static Arguments refused(String field, String limit, Runnable wrong) {
    return Arguments.of(field, limit, wrong);
  }

  private static void tooManyEntries() {
    LockRequest request = PLAIN;
    for (int i = 0; i < 33; i++) {
      request = request.metadata("k" + i, "v");
    }
  }

  private static void tooManyLocks() {
    LockRequest.of(IntStream.range(0, 65).mapToObj(i -> LockSpec.exclusive("lock" + i)).toList());
  }

  @ParameterizedTest
  @MethodSource("outOfRange")
  void whatIsOutOfRangeIsRefusedWithFieldAndLimit(String field, String limit, Runnable wrong) {
    assertThatThrownBy(wrong::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(field)
        .hasMessageContaining(limit);
  }

  @Test
  void whatIsJustInRangeIsTaken() {
    // Given / When
    LockRequest widest =
        LockRequest.of(
                IntStream.range(0, 64).mapToObj(i -> LockSpec.exclusive("lock" + i)).toList())
            .owner("x".repeat(256))
            .maxHold(Duration.ofMillis(100))
            .lockDelay(Duration.ofHours(1))
            .metadata("k", "x".repeat(4_095))
            .waitAtMost(Duration.ofDays(7));
    // Then
    assertThat(widest.locks()).hasSize(64);
  }

  @Test
  void cyclesOfWaitsAreSearchedForWhereAnOwnerIsNamedOrTheRequestSaysSo() {
    // Given
    LockRequest anybody = LockRequest.of("a");
    LockRequest task = anybody.owner("task");
    // When / Then
    assertThat(onTheWire(anybody)).isEqualTo(DeadlockCheck.DEADLOCK_CHECK_UNSPECIFIED);
    assertThat(onTheWire(task)).isEqualTo(DeadlockCheck.DEADLOCK_CHECK_UNSPECIFIED);
    assertThat(onTheWire(anybody.checkForDeadlock())).isEqualTo(DeadlockCheck.DEADLOCK_CHECK_ON);
    assertThat(onTheWire(task.skipDeadlockCheck())).isEqualTo(DeadlockCheck.DEADLOCK_CHECK_OFF);
    assertThat(onTheWire(anybody.skipDeadlockCheck().owner("task")))
        .isEqualTo(DeadlockCheck.DEADLOCK_CHECK_OFF);
    assertThat(onTheWire(task.checkForDeadlock().skipDeadlockCheck()))
        .isEqualTo(DeadlockCheck.DEADLOCK_CHECK_OFF);
  }

  private static DeadlockCheck onTheWire(LockRequest request) {
    return SessionRequests.acquire(request, "id", "me", 0).getAcquire().getDeadlockCheck();
  }

  @Test
  void messageToTheServerSaysAllThatTheRequestSays() {
    // Given
    LockRequest request =
        LockRequest.of(LockSpec.permits("a", 2, 3), LockSpec.custom("b", "vip"))
            .owner("task")
            .maxHold(Duration.ofSeconds(3))
            .lockDelay(Duration.ofSeconds(2))
            .skipDeadlockCheck();
    // When
    AcquireRequest message = SessionRequests.acquire(request, "id", "me", 0).getAcquire();
    // Then
    assertThat(message.getLocks(0).getMode()).hasToString("LOCK_MODE_PERMITS");
    assertThat(message.getLocks(0).getPermits()).isEqualTo(2);
    assertThat(message.getLocks(0).getLimit()).isEqualTo(3);
    assertThat(message.getLocks(1).getMode()).hasToString("LOCK_MODE_CUSTOM");
    assertThat(message.getLocks(1).getCustom()).isEqualTo("vip");
    assertThat(message.getOwner()).isEqualTo("task");
    assertThat(message.getMaxHold().getSeconds()).isEqualTo(3);
    assertThat(message.getLockDelay().getSeconds()).isEqualTo(2);
    assertThat(message.getDeadlockCheck()).isEqualTo(DeadlockCheck.DEADLOCK_CHECK_OFF);
    assertThat(message.hasWaitTimeout()).isFalse();
  }
}
