package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class EngineTest {

  @ParameterizedTest
  @CsvSource({"100, 2500", "1000, 2500", "2000, 3500", "60000, 4000"})
  void deletionsThatAreDueATickLaterSettleWhileWeLeaveUnlessThatTakesTooLong(
      long tickMillis, long graceMillis) {
    // When
    Duration grace = Engine.leaveGrace(Duration.ofMillis(tickMillis));
    // Then
    assertThat(grace).hasMillis(graceMillis);
  }

  @ParameterizedTest
  @CsvSource({"268435456, 16777216", "536870912, 33554432", "8589934592, 33554432"})
  void namesOfLocksTakeNoMoreThanASixteenthOfTheHeapNorThanAReplyOfZooKeeperShouldHave(
      long heapBytes, long nameBytes) {
    assertThat(Engine.mirrorNameBytes(heapBytes)).isEqualTo(nameBytes);
  }
}
