package io.lockkeeper.server.zookeeper.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.StoreEvent.ReadEntry;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.RevocationRequest;
import io.lockkeeper.server.zookeeper.commit.LeaseRecording;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a release makes of the records of another. */
class RecordFormatTest {

  private static final String CLAIM = "00000000000000ab";

  private static byte[] record(String format, String fields) {
    return ("{" + format + fields + ",\"added\":[1]}").getBytes(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "``, false",
        "`\"format\":1,`, true",
        "`\"format\":2,`, true",
        "`\"format\":3,`, false",
        "`\"format\":9,`, false",
        "`\"format\":0,`, false",
        "`\"format\":-1,`, false",
        "`\"format\":\"1\",`, false",
        "`\"format\":null,`, false"
      })
  void recordsOfTheNextFormatAreReadAndNewerOnesAreNotInterpreted(String format, boolean readable) {
    // Given
    byte[] entry =
        record(format, "\"lease\":\"77\",\"request\":\"r\",\"holder\":\"h\",\"index\":3");
    byte[] claim =
        record(
            format,
            "\"owner\":\"c-1\",\"session\":\""
                + CLAIM
                + "\",\"password\":\"00ff\",\"timeoutMillis\":20000");
    byte[] lease = record(format, "\"ttlMillis\":15000,\"holder\":\"h\",\"secretHash\":\"x\"");
    byte[] member = record(format, "\"address\":\"host:9090\"");
    // When
    ReadEntry read = EntryData.read(entry, 0x1_0000_0005L);
    // Then: an entry keeps its place and its token
    assertThat(read.index()).isEqualTo(3);
    assertThat(read.details().requestId()).isEqualTo(readable ? "r" : "");
    assertThat(read.details().holder()).contains(readable ? "h" : "which this version cannot read");
    assertThat(ClaimRecord.read(CLAIM, claim).isPresent()).isEqualTo(readable);
    assertThat(LeaseRecording.read(new LeaseId(1, 2), lease).isPresent()).isEqualTo(readable);
    assertThat(MemberRecord.read(member).address()).isEqualTo(readable ? "host:9090" : "");
  }

  @Test
  void whatHasNoFormatIsNotOfAnotherReleaseEither() {
    assertThat(Json.isOfAnotherRelease(record("\"format\":9,", "\"owner\":\"c-1\""))).isTrue();
    assertThat(Json.isOfAnotherRelease(record("", "\"owner\":\"c-1\""))).isFalse();
  }

  @Test
  void whatIsWrittenSaysItsFormat() {
    // When
    byte[] member = new MemberRecord("host:9090", "").write();
    // Then
    assertThat(new String(member, StandardCharsets.UTF_8))
        .isEqualTo("{\"format\":1,\"address\":\"host:9090\"}");
  }

  @Test
  void updateOfAnEntryKeepsItsFormatAndWhatThatHasAdded() {
    // Given
    EntryUpdate ask =
        new EntryUpdate.Ask(new RevocationRequest("1", "bob", "", Optional.empty(), false));
    byte[] next = record("\"format\":2,", "\"lease\":\"77\"");
    byte[] newer = record("\"format\":3,", "\"lease\":\"77\"");
    // When
    String asked = new String(UpdatedEntryData.of(next, ask).orElseThrow(), StandardCharsets.UTF_8);
    // Then
    assertThat(asked).contains("\"format\":2", "\"added\":[1]", "bob");
    assertThat(UpdatedEntryData.of(newer, ask)).isEmpty();
  }

  @Test
  void entryOfOthersHasNoFormatWhateverItsDataSays() {
    // When
    ReadEntry read = EntryData.read(record("\"format\":\"csv\",", "\"holder\":\"w-7\""), 5);
    // Then
    assertThat(read.details().holder()).isEqualTo("w-7");
  }

  @Test
  void formatThatIsNotKnownIsShownInAFewPrintableCharacters() {
    // Given
    String format = "\"format\":\"" + "\\n\\u0000é" + "x".repeat(100_000) + "\",";
    // When
    String shown = EntryData.read(record(format, "\"lease\":\"77\""), 5).details().holder();
    // Then
    assertThat(shown.length()).isLessThan(130);
    assertThat(shown).matches("\\(a record of format \"[ -~]+ which this version cannot read\\)");
  }
}
