package io.lockkeeper.cli.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class LockTextTest {

  private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  @Test
  void traceOfAHolderIsNotWhatHeHoldsTheLockFor() {
    // Then
    assertThat(LockText.purpose(Map.of("traceparent", TRACE, "job", "7"))).isEqualTo("job=7");
    assertThat(LockText.purpose(Map.of("traceparent", TRACE))).isEmpty();
    assertThat(LockText.purpose(Map.of("traceparent", TRACE, "purpose", "backup")))
        .isEqualTo("backup");
  }
}
