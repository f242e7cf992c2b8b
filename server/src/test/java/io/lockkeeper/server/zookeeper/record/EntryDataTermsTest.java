package io.lockkeeper.server.zookeeper.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryTerms;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class EntryDataTermsTest {

  private static EntryTerms read(byte[] json) {
    return EntryData.terms(Json.readObject(json).orElseThrow());
  }

  @Test
  void plainTermsTakeNoRoom() {
    assertThat(EntryData.fields(EntryTerms.PLAIN)).isEmpty();
    assertThat(read(Json.write(EntryData.fields(EntryTerms.PLAIN)))).isEqualTo(EntryTerms.PLAIN);
  }

  @Test
  void termsAreReadAsTheyWereWritten() {
    // Given
    EntryTerms terms =
        new EntryTerms(
            64,
            Optional.of(Duration.ZERO),
            Optional.of(Duration.ofMinutes(3)),
            Duration.ofMillis(5),
            "0123456789ab",
            true);
    // Then
    assertThat(read(Json.write(EntryData.fields(terms)))).isEqualTo(terms);
  }

  @Test
  void waitWithoutEndIsALongOne() {
    // Given
    EntryTerms terms =
        new EntryTerms(
            1,
            Optional.of(Duration.ofSeconds(Long.MAX_VALUE)),
            Optional.empty(),
            Duration.ZERO,
            AccountTag.NOBODY,
            false);
    // When
    EntryTerms read = read(Json.write(EntryData.fields(terms)));
    // Then: deadlines are compared by their differences
    assertThat(read.waitTimeout().orElseThrow().toNanos()).isBetween(0L, Long.MAX_VALUE / 2);
    assertThat(read.waitTimeout().orElseThrow()).isGreaterThan(Duration.ofDays(50_000));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"locks\":0,\"wait_ms\":-1}",
        "{\"locks\":-3,\"max_hold_ms\":\"soon\"}",
        "{\"locks\":99999999999,\"delay_ms\":[],\"call\":\"perhaps\"}"
      })
  void whatMakesNoSenseIsPlain(String data) {
    assertThat(read(data.getBytes(StandardCharsets.UTF_8))).isEqualTo(EntryTerms.PLAIN);
  }
}
