package io.lockkeeper.conformance;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FatesTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "granted",
        "granted lost",
        "granted jeopardy safe released",
        "not_acquired",
        "released",
        "lost",
        "holding granted holding lost holding"
      })
  void oneGrantAndOneEndingMayBe(String kinds) {
    // Given
    Fates fates = told(kinds);
    // When, then
    assertThatCode(fates::mustBePlausible).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "granted lost released",
        "granted lost lost",
        "granted granted",
        "lost granted",
        "not_acquired granted",
        "granted not_acquired"
      })
  void whatContradictsItselfIsFound(String kinds) {
    // Given
    Fates fates = told(kinds);
    // When, then
    assertThatThrownBy(fates::mustBePlausible).isInstanceOf(Unmet.class);
  }

  private static Fates told(String kinds) {
    Fates fates = new Fates();
    fates.add("another", "granted");
    List.of(kinds.split(" ")).forEach(kind -> fates.add("a", kind));
    return fates;
  }
}
