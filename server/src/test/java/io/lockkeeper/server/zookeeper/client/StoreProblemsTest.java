package io.lockkeeper.server.zookeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.api.StoreHealth;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

final class StoreProblemsTest {

  private final StoreProblems problems = new StoreProblems();

  @Test
  void whereMoreDirectoriesCannotBeListedThanAreRememberedAnyMayBeOneOfThem() {
    // When
    for (int i = 0; i <= StoreProblems.MAX_UNLISTED; i++) {
      problems.listed("/" + i, false);
    }
    // Then
    assertThat(problems.isUnlisted("/" + StoreProblems.MAX_UNLISTED)).isTrue();
  }

  @Test
  void directoryThatCanBeListedAgainIsNoProblemAnyMore() {
    // Given
    problems.listed("/a", false);
    problems.unwritable("/a", "/a", Code.NOAUTH.intValue());
    // When
    problems.listed("/a", true);
    // Then
    assertThat(problems.isUnlisted("/a")).isFalse();
    assertThat(problems.health()).isEqualTo(StoreHealth.WELL);
  }
}
