package io.lockkeeper.server.core.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AccountTagTest {

  @Test
  void tagOfAnAccountIsReadBackAndNamesMarkers() {
    // Given
    String tag = AccountTag.of("shop");
    // Then
    assertThat(AccountTag.parse(tag)).isEqualTo(tag);
    assertThat(MarkerName.parse(MarkerName.Guard.of(new UUID(1, 1), 700, tag).text())).isPresent();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "ABCDEF012345", "00000000000g", "0000000000000"})
  void textThatNoMarkerCanBeNamedByCountsForNobody(String text) {
    assertThat(AccountTag.parse(text)).isEqualTo(AccountTag.NOBODY);
  }
}
