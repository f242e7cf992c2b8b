package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class SuspicionsTest {

  private final Suspicions suspicions = new Suspicions();

  private static Claimed claim(String owner, int version) {
    SessionIdentity session = new SessionIdentity(1, new byte[] {1});
    return new Claimed(new ClaimRecord(owner, "", session, 1, 0, true), version);
  }

  @Test
  void claimsThatASuspectHadAreSuspectAndOthersAreNot() {
    // When
    suspicions.add("a", Map.of("1", claim("a", 0), "2", claim("b", 0)));
    // Then
    assertThat(suspicions.isSuspect("1", claim("a", 0))).isTrue();
    assertThat(suspicions.isSuspect("2", claim("b", 0))).isFalse();
    assertThat(suspicions.isSuspect("a")).isTrue();
    assertThat(suspicions.isSuspect("b")).isFalse();
  }

  @Test
  void claimThatASuspectMakesLaterShowsThatItLives() {
    // When
    suspicions.add("a", Map.of("1", claim("a", 0)));
    // Then
    assertThat(suspicions.isSuspect("3", claim("a", 0))).isFalse();
    assertThat(suspicions.isSuspect("1", claim("a", 2))).isFalse();
  }

  @Test
  void claimThatSomebodyTookFromASuspectIsNotSuspect() {
    // When
    suspicions.add("a", Map.of("1", claim("a", 0)));
    // Then
    assertThat(suspicions.isSuspect("1", claim("b", 1))).isFalse();
  }

  @Test
  void suspicionIsForgottenWithTheMember() {
    // Given
    suspicions.add("a", Map.of("1", claim("a", 0)));
    // When
    suspicions.retainMembers(Set.of("b"));
    // Then
    assertThat(suspicions.isSuspect("1", claim("a", 0))).isFalse();
    assertThat(suspicions.isSuspect("a")).isFalse();
  }
}
