package io.lockkeeper.server.zookeeper.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.StoreEvent.ReadEntry;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.RevocationRequest;
import io.lockkeeper.server.zookeeper.Asked;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class UpdatedEntryDataTest {

  private static final FencingToken TOKEN = new FencingToken(Long.MAX_VALUE - 7);
  private static final RevocationRequest ASK =
      new RevocationRequest("a1", "ops", "reboot", Optional.of(Duration.ofMillis(9)), false);
  private static final EntryDetails NEXT = Asked.details(Map.of("k", "v"));
  private static final EntryUpdate DESCRIBE =
      new EntryUpdate.Describe(NEXT, 3, 2, Optional.of(TOKEN));

  private static byte[] updated(byte[] data, EntryUpdate update) {
    return UpdatedEntryData.of(data, update).orElseThrow();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] data) {
    return new String(data, StandardCharsets.UTF_8);
  }

  @Test
  void descriptionKeepsWhatTheEntryWasCreatedWithAndWhatIsNotKnownHere() {
    // Given
    byte[] data =
        bytes(
            "{\"format\":1,\"lease\":\"l\",\"holder\":\"old\",\"needs_ms\":5,\"stream\":true,"
                + "\"index\":9,\"part\":5,\"token\":\"123\",\"later\":{\"a\":[1,2.50]}}");
    // When
    byte[] updated = updated(data, DESCRIBE);
    // Then
    assertThat(EntryData.read(updated, 1))
        .isEqualTo(new ReadEntry(NEXT, 1, 9, 5, Optional.of(new FencingToken(123))));
    assertThat(text(updated)).contains("\"later\":{\"a\":[1,2.5").doesNotContain("\"old\"");
  }

  @Test
  void descriptionKeepsAWishThatItDoesNotKnow() {
    // Given
    byte[] asked =
        updated(EntryData.of(NEXT).with(0, 0, Optional.empty()), new EntryUpdate.Ask(ASK));
    // When
    byte[] updated = updated(asked, DESCRIBE);
    // Then
    assertThat(EntryData.read(updated, 1).details().ask()).contains(ASK);
  }

  @Test
  void wishKeepsEverythingElse() {
    // Given
    byte[] data = bytes("{\"format\":1,\"lease\":\"l\",\"later\":7,\"index\":9,\"token\":\"123\"}");
    // When
    String updated = text(updated(data, new EntryUpdate.Ask(ASK)));
    // Then
    assertThat(updated)
        .isEqualTo(
            "{\"format\":1,\"lease\":\"l\",\"later\":7,\"index\":9,\"token\":\"123\","
                + "\"ask\":{\"id\":\"a1\",\"by\":\"ops\",\"why\":\"reboot\",\"ms\":9}}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "__REVOKE__",
        "",
        "10.0.0.1",
        "{}",
        "{\"lease\":\"\"}",
        "{\"lease\":",
        "[]",
        "{\"format\":\"csv\",\"host\":\"w-7\"}"
      })
  void whatIsNotOursIsRestoredByADescriptionAndRevokedByAWish(String foreign) {
    // When
    byte[] restored = updated(bytes(foreign), DESCRIBE);
    byte[] asked = updated(bytes(foreign), new EntryUpdate.Ask(ASK));
    // Then
    assertThat(EntryData.read(restored, 1))
        .isEqualTo(new ReadEntry(NEXT, 1, 3, 2, Optional.of(TOKEN)));
    assertThat(text(asked)).isEqualTo("__REVOKE__");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "__REVOKE__",
        "{\"format\":1,\"lease\":\"l\",\"z\":1,\"index\":9,\"ask\":{\"id\":\"other\"},\"y\":[]}"
      })
  void updatingTwiceChangesNothingMore(String data) {
    for (EntryUpdate update : new EntryUpdate[] {DESCRIBE, new EntryUpdate.Ask(ASK)}) {
      // Given
      byte[] once = updated(bytes(data), update);
      // When
      byte[] twice = updated(once, update);
      // Then
      assertThat(text(twice)).isEqualTo(text(once));
    }
  }
}
