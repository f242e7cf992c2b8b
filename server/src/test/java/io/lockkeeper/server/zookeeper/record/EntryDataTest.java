package io.lockkeeper.server.zookeeper.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.StoreEvent.ReadEntry;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.RevocationRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class EntryDataTest {

  private static final FencingToken LARGEST = new FencingToken(Long.MAX_VALUE);
  private static final RevocationRequest ASK =
      new RevocationRequest("a", "ops", "re\"boot", Optional.of(Duration.ofMillis(7)), true);

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2047})
  void whatIsWrittenIsReadBack(int index) {
    // Given
    EntryDetails details =
        new EntryDetails(
            "0a",
            "req \"1\"",
            "thread-1",
            "über",
            Map.of("k", "v\n", "", "x"),
            true,
            true,
            Optional.of(1_500L),
            Optional.of(ASK));
    Optional<FencingToken> kept = index == 1 ? Optional.of(LARGEST) : Optional.empty();
    int ordinal = index % 3;
    // When
    ReadEntry read = EntryData.read(EntryData.of(details).with(index, ordinal, kept), 9);
    // Then
    assertThat(read).isEqualTo(new ReadEntry(details, 9, index, ordinal, kept));
  }

  @Test
  void curatorsAddressIsShownAsTheHolder() {
    // When
    ReadEntry read = EntryData.read(bytes("192.168.0.7"), 5);
    // Then
    assertThat(read)
        .isEqualTo(
            new ReadEntry(
                EntryDetails.foreign("192.168.0.7", Optional.empty()), 5, 0, Optional.empty()));
  }

  @Test
  void whatCuratorsRevokerWritesIsAWishWithoutReasons() {
    // When
    ReadEntry read = EntryData.read(bytes("__REVOKE__"), 5);
    // Then
    RevocationRequest ask =
        new RevocationRequest(RevocationRequest.BY_CURATOR, "", "", Optional.empty(), false);
    assertThat(read.details()).isEqualTo(EntryDetails.foreign("", Optional.of(ask)));
  }

  @Test
  void tokenIsReadFromANumberToo() {
    // When
    ReadEntry read = EntryData.read(bytes("{\"lease\":\"l\",\"token\":9223372036854775807}"), 5);
    // Then
    assertThat(read.token()).isEqualTo(LARGEST);
  }

  @Test
  void deadlinePastAllNumbersIsWrittenAsALongOne() {
    // Given
    RevocationRequest never =
        new RevocationRequest("a", "", "", Optional.of(Duration.ofSeconds(Long.MAX_VALUE)), false);
    EntryDetails details =
        new EntryDetails(
            "l", "r", "", "h", Map.of(), false, false, Optional.empty(), Optional.of(never));
    // When
    ReadEntry read = EntryData.read(EntryData.of(details).with(0, 0, Optional.empty()), 9);
    // Then
    Duration deadline = read.details().ask().flatMap(RevocationRequest::deadline).orElseThrow();
    assertThat(deadline).isGreaterThan(Duration.ofDays(50_000));
  }

  @Test
  void holderOfForeignDataIsShortAndPrintable() {
    // When
    ReadEntry read = EntryData.read(bytes("a\u0000\u0007b\u202E" + "c".repeat(500)), 5);
    // Then
    assertThat(read.details().holder()).startsWith("abccc").hasSize(64);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "{}",
        "[1]",
        "null",
        "{\"holder\":7,\"metadata\":[1],\"index\":\"x\",\"stream\":\"maybe\"}",
        "{\"metadata\":{\"a\":{\"b\":1}},\"index\":99999999999999999999}",
        "{\"index\":-1}",
        "{\"index\":2048}",
        "{\"part\":-1}",
        "{\"part\":2147483648}",
        "{\"part\":\"2\",\"index\":{}}",
        "{\"lease\":7,\"needs_ms\":-1,\"token\":\"9223372036854775808\",\"ask\":[]}",
        "{\"token\":-1,\"needs_ms\":1.5,\"ask\":{\"by\":\"nobody\"}}",
        "{\"token\":\"99999999999999999999\",\"ask\":{\"id\":\"\"}}",
        "{\"token\":0,\"needs_ms\":\"-5\"}",
        "__REVOKE",
        "__REVOKE__ "
      })
  void strangeDataNeverFails(String text) {
    // When
    ReadEntry read = EntryData.read(bytes(text), 5);
    // Then
    assertThat(read.index()).isZero();
    assertThat(read.ordinal()).isZero();
    assertThat(read.details().metadata()).isEmpty();
    assertThat(read.details().needsMillis()).isEmpty();
    assertThat(read.details().ask()).isEmpty();
    assertThat(read.details().unsearched()).isTrue();
    assertThat(read.keptToken()).isEmpty();
  }

  @Test
  void needThatIsTooLongForAnyHolderIsCut() {
    // When
    ReadEntry read = EntryData.read(bytes("{\"needs_ms\":9223372036854775807}"), 5);
    // Then
    assertThat(read.details().needsMillis()).contains(Duration.ofDays(7).toMillis());
  }

  @Test
  void randomBytesNeverFail() {
    // Given
    long seed = 20_261_121;
    Random random = new Random(seed);
    for (int i = 0; i < 5_000; i++) {
      byte[] data = new byte[random.nextInt(200)];
      random.nextBytes(data);
      if (data.length > 0 && random.nextBoolean()) {
        data[0] = '{';
      }
      // When
      ReadEntry read = EntryData.read(data, 1);
      // Then
      assertThat(read.details().holder().codePointCount(0, read.details().holder().length()))
          .isLessThanOrEqualTo(64);
    }
  }
}
