package io.lockkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdentityTest {

  /** UTF-8 has no half characters: two names would be one for a coordinator that is told them. */
  @ParameterizedTest
  @ValueSource(
      strings = {"jwt:a\ud800", "jwt:a\u202eb", "jwt:a\u200bb", "jwt:a\nb", "jwt:a\u2028b"})
  void nameThatShowsOrTravelsAsAnotherIsNone(String name) {
    assertThatIllegalArgumentException().isThrownBy(() -> Identity.of(name));
  }

  @Test
  void namesThatWouldNotFitIntoTheHeadersOfAForwardedCallAreRefused() {
    // Given
    List<String> names = IntStream.range(0, 9).mapToObj(i -> i + ":" + "x".repeat(500)).toList();
    // When // Then
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Identity(names.get(0), names))
        .withMessageContaining("4096 bytes together");
  }
}
