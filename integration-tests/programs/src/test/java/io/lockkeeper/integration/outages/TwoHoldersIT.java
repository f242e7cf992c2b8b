package io.lockkeeper.integration.outages;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Alone;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** One freeze of {@link TwoHoldersRow}: a ZooKeeper server freezes with coordinators behind it. */
@Alone
final class TwoHoldersIT {

  @Test
  void nobodyGetsTheLockElsewhereWhileAHolderBehindAFrozenServerMayUseIt() throws Exception {
    try (TwoHolders sides = TwoHolders.start(2)) {
      // Given
      List<Duration> justAfterAProof =
          IntStream.range(0, 8).mapToObj(i -> Duration.ofMillis(100 + 100L * i)).toList();

      // When
      List<Contest> contests = sides.freeze(justAfterAProof);

      // Then
      assertThat(contests).hasSize(8).noneMatch(contest -> contest.margin().isNegative());
    }
  }
}
