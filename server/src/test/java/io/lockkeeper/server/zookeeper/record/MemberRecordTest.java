package io.lockkeeper.server.zookeeper.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class MemberRecordTest {

  @Test
  void recordIsReadAsItWasWritten() {
    // Given
    MemberRecord plain = new MemberRecord("h:1", "");
    MemberRecord full = new MemberRecord("h:1", "home");
    // Then
    assertThat(MemberRecord.read(plain.write())).isEqualTo(plain);
    assertThat(MemberRecord.read(full.write())).isEqualTo(full);
  }

  @Test
  void plainTextIsAnAddress() {
    assertThat(MemberRecord.read("h:1".getBytes(StandardCharsets.UTF_8)))
        .isEqualTo(new MemberRecord("h:1", ""));
  }
}
