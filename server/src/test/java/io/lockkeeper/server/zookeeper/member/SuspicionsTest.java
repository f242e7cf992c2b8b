package io.lockkeeper.server.zookeeper.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.zookeeper.record.ClaimRecord;
import io.lockkeeper.server.zookeeper.record.SessionIdentity;
import io.lockkeeper.server.zookeeper.record.VersionedClaim;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class SuspicionsTest {

  private static final Set<String> MEMBERS = Set.of("a", "b");

  private final Suspicions suspicions = new Suspicions();

  private static VersionedClaim claim(String owner, int version) {
    SessionIdentity session = new SessionIdentity(1, new byte[] {1});
    return new VersionedClaim(new ClaimRecord(owner, "", session, 1, 0, true), version);
  }

  private void suspectA(Map<String, VersionedClaim> claims) {
    suspicions.raise("a", 0);
    suspicions.look(MEMBERS, claims, 1);
  }

  @Test
  void claimsThatASuspectHadAreSuspectAndOthersAreNot() {
    // When
    suspectA(Map.of("1", claim("a", 0), "2", claim("b", 0)));
    // Then
    assertThat(suspicions.isSuspect("1", claim("a", 0))).isTrue();
    assertThat(suspicions.isSuspect("2", claim("b", 0))).isFalse();
    assertThat(suspicions.isSuspect("a")).isTrue();
    assertThat(suspicions.isSuspect("b")).isFalse();
  }

  @Test
  void claimThatASuspectMakesLaterShowsThatItLives() {
    // When
    suspectA(Map.of("1", claim("a", 0)));
    // Then
    assertThat(suspicions.isSuspect("3", claim("a", 0))).isFalse();
    assertThat(suspicions.isSuspect("1", claim("a", 2))).isFalse();
  }

  @Test
  void claimThatSomebodyTookFromASuspectIsNotSuspect() {
    // When
    suspectA(Map.of("1", claim("a", 0)));
    // Then
    assertThat(suspicions.isSuspect("1", claim("b", 1))).isFalse();
  }

  @Test
  void suspicionIsForgottenWithTheMember() {
    // Given
    suspectA(Map.of("1", claim("a", 0)));
    // When
    suspicions.look(Set.of("b"), Map.of("1", claim("a", 0)), 2);
    // Then
    assertThat(suspicions.isSuspect("1", claim("a", 0))).isFalse();
    assertThat(suspicions.isSuspect("a")).isFalse();
  }

  @Test
  void suspicionIsOverWhenNoneOfItsClaimsIsLeft() {
    // Given
    suspectA(Map.of("1", claim("a", 0), "2", claim("a", 3)));
    // When
    suspicions.look(MEMBERS, Map.of("1", claim("b", 1), "2", claim("a", 3)), 2);
    boolean whileOneIsLeft = suspicions.isSuspect("a");
    suspicions.look(MEMBERS, Map.of("1", claim("b", 1), "2", claim("b", 4), "3", claim("a", 0)), 3);
    // Then
    assertThat(whileOneIsLeft).isTrue();
    assertThat(suspicions.isSuspect("a")).isFalse();
  }

  @Test
  void suspicionThatWaitedTooLongForALookIsDropped() {
    // Given
    Map<String, VersionedClaim> claims = Map.of("1", claim("a", 0), "2", claim("b", 0));
    suspicions.raise("a", 0);
    suspicions.raise("b", 1);
    // When
    suspicions.look(MEMBERS, claims, Suspicions.MAX_AGE_NANOS + 1);
    // Then
    assertThat(suspicions.isSuspect("1", claims.get("1"))).isFalse();
    assertThat(suspicions.isSuspect("2", claims.get("2"))).isTrue();
  }

  @Test
  void claimThatCameBackToASuspectNeedsANewSuspicion() {
    // Given
    suspectA(Map.of("1", claim("a", 0)));
    Map<String, VersionedClaim> takenBack = Map.of("1", claim("a", 2));
    suspicions.look(MEMBERS, takenBack, 2);
    assertThat(suspicions.isSuspect("1", claim("a", 2))).isFalse();
    // When
    suspectA(takenBack);
    // Then
    assertThat(suspicions.isSuspect("1", claim("a", 2))).isTrue();
  }
}
