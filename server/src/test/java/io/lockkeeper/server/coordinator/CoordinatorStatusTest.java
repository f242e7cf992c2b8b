package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.api.CoordinatorStatus;
import io.lockkeeper.server.coordinator.api.CoordinatorStatus.SessionStatus;
import io.lockkeeper.server.coordinator.api.StoreHealth;
import io.lockkeeper.server.core.api.QueueExtremes;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CoordinatorStatusTest {

  private static CoordinatorStatus cutOff(int sessions) {
    List<SessionStatus> all =
        IntStream.rangeClosed(1, sessions)
            .mapToObj(i -> new SessionStatus("session-" + i, true, false, 0, 0))
            .toList();
    return new CoordinatorStatus(
        false,
        false,
        true,
        all,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        StoreHealth.WELL,
        QueueExtremes.NONE,
        1);
  }

  @Test
  void fewSessionsThatAreCutOffAreNamed() {
    assertThat(cutOff(2).impediments())
        .containsExactly(
            "lock session session-1 is not connected to ZooKeeper",
            "lock session session-2 is not connected to ZooKeeper");
  }

  @Test
  void ofManySessionsThatAreCutOffSomeAreNamedAndTheOthersCounted() {
    assertThat(cutOff(64).impediments())
        .hasSize(4)
        .startsWith("lock session session-1 is not connected to ZooKeeper")
        .endsWith("61 more lock sessions are not usable either");
  }
}
