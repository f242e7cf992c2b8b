package io.lockkeeper.server.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class MemoryAlarmTest {

  private final MemoryAlarm alarm = new MemoryAlarm();

  @Test
  void lackOfMemoryIsAnImpedimentUntilItHasPassed() {
    // When
    alarm.look(new OutOfMemoryError("direct"), 1_000);
    // Then
    assertThat(alarm.impediment(2_000).orElseThrow()).contains("out of memory");
    assertThat(alarm.impediment(1_000 + TimeUnit.SECONDS.toNanos(11))).isEmpty();
  }

  @Test
  void otherTroubleOfAConnectionIsNone() {
    // When
    alarm.look(new IOException("reset by peer"), 1_000);
    // Then
    assertThat(alarm.impediment(1_001)).isEmpty();
  }
}
