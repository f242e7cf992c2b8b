package io.lockkeeper.server.zookeeper.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.Promises;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ClaimRecordTest {

  private static final String NAME = "0000000000000010";
  private static final SessionIdentity SESSION = new SessionIdentity(0x10, new byte[] {1, -2});

  private static final String START = "{\"format\":1,\"timeoutMillis\":9,";
  private static final String ATTACHABLE =
      "\"owner\":\"c\",\"session\":\"0000000000000010\",\"password\":\"01\"";

  private static ClaimRecord record(String owner, String home, long epoch, boolean alone) {
    return new ClaimRecord(owner, home, SESSION, 30_000, epoch, alone);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void recordIsReadAsItWasWritten() {
    // Given
    ClaimRecord plain = record("c1", "", 0, false);
    ClaimRecord full = record("c2", "h", 7, true);
    Promises promises =
        new Promises(
            Map.of("0000000000000001", Duration.ofMillis(4_500)),
            Map.of(new UUID(1, 2), Duration.ofNanos(1)));
    byte[] left = full.leaving(promises).write();
    // Then: durations are never shorter than they were
    assertThat(ClaimRecord.read(NAME, left).orElseThrow().promises())
        .contains(
            new Promises(
                Map.of("0000000000000001", Duration.ofMillis(4_501)),
                Map.of(new UUID(1, 2), Duration.ofMillis(1))));
    assertThat(full.leaving(promises).by("c3", "h").promises()).isEmpty();
    assertThat(ClaimRecord.read(NAME, plain.write())).contains(plain);
    assertThat(ClaimRecord.read(NAME, full.write())).contains(full);
    assertThat(new String(full.write(), StandardCharsets.UTF_8))
        .contains("\"session\":\"" + NAME + "\"", "\"password\":\"01fe\"", "\"epoch\":7");
  }

  @Test
  void promisesForAFullSessionFitIntoWhatPeersReadAndTheLongestAreLeftOut() {
    // Given
    Map<String, Duration> leases = new HashMap<>();
    Map<UUID, Duration> waiters = new HashMap<>();
    for (int i = 1; i <= 600; i++) {
      leases.put(LeaseId.tagOf(i), Duration.ofSeconds(i));
      waiters.put(new UUID(i, i), Duration.ofSeconds(i));
    }
    // When
    byte[] left =
        record("c".repeat(100), "h".repeat(100), 1, true)
            .leaving(new Promises(leases, waiters))
            .write();
    // Then
    Promises read = ClaimRecord.read(NAME, left).orElseThrow().promises().orElseThrow();
    assertThat(left).hasSizeLessThan(NodeReader.MAX_RECORD_BYTES);
    assertThat(read.leases()).hasSizeGreaterThan(512).containsKey(LeaseId.tagOf(1));
    assertThat(read.leases()).doesNotContainKey(LeaseId.tagOf(600));
    assertThat(read.waiters()).hasSizeLessThan(600);
  }

  @Test
  void highestSessionIdIsUnsigned() {
    // Given
    SessionIdentity session = new SessionIdentity(-1, new byte[] {1});
    ClaimRecord record = new ClaimRecord("c", "", session, 1, 0, true);
    // Then
    assertThat(ClaimRecord.read("ffffffffffffffff", record.write())).contains(record);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "gibberish",
        "{}",
        START + "\"owner\":\"peer\"}",
        START + "\"owner\":\"\",\"session\":\"0000000000000010\",\"password\":\"01\"}",
        START + "\"owner\":\"c\",\"session\":\"0000000000000011\",\"password\":\"01\"}",
        START + "\"owner\":\"c\",\"session\":\"0000000000000010\",\"password\":\"0\"}",
        START + "\"owner\":\"c\",\"session\":\"0000000000000010\",\"password\":\"zz\"}",
        "{\"format\":1," + ATTACHABLE + "}",
        "{\"timeoutMillis\":9," + ATTACHABLE + "}"
      })
  void recordByWhichNobodyCouldAttachIsNone(String data) {
    assertThat(ClaimRecord.read(NAME, bytes(data))).isEqualTo(Optional.empty());
  }

  @Test
  void recordMayHaveNoMoreThanItTakesToAttach() {
    assertThat(ClaimRecord.read(NAME, bytes(START + ATTACHABLE + "}"))).isPresent();
  }

  @Test
  void recordUnderAnotherKindOfNameIsNone() {
    assertThat(ClaimRecord.read("../x", record("c", "", 0, true).write()))
        .isEqualTo(Optional.empty());
  }

  @Test
  void whoAdoptsKeepsTheSessionAndItsTimeoutAndCountsOn() {
    // When
    ClaimRecord adopted = record("c1", "h1", 3, true).by("c2", "h2");
    // Then
    assertThat(adopted).isEqualTo(record("c2", "h2", 4, false));
  }

  @Test
  void whoAdoptsKeepsANewerFormat() {
    // Given: what the session owns may be written in it
    String newer =
        new String(record("c1", "", 0, false).write(), StandardCharsets.UTF_8)
            .replace("\"format\":1", "\"format\":2");
    // When
    ClaimRecord adopted = ClaimRecord.read(NAME, bytes(newer)).orElseThrow().by("c2", "");
    // Then: so that nobody adopts it who could not read that
    assertThat(new String(adopted.write(), StandardCharsets.UTF_8)).contains("\"format\":2");
  }

  @Test
  void ownerAtTheSameHomeUnderAnotherNameIsAPredecessor() {
    // Given
    ClaimRecord record = record("c1", "h", 0, true);
    // Then
    assertThat(record.isPredecessor("c2", "h")).isTrue();
    assertThat(record.isPredecessor("c1", "h")).isFalse();
    assertThat(record.isPredecessor("c2", "other")).isFalse();
    assertThat(record("c1", "", 0, true).isPredecessor("c2", "")).isFalse();
  }

  @Test
  void sessionThatAPredecessorHadFromSomebodyElseIsNotLeftBehindForCertain() {
    // Given
    ClaimRecord opened = record("c1", "h", 0, true);
    ClaimRecord restarted = opened.by("c2", "h");
    ClaimRecord elsewhere = opened.by("p", "other");
    ClaimRecord elsewhereRestarted = elsewhere.by("q", "other");
    // Then
    assertThat(opened.isLeftBehind("c2", "h")).isTrue();
    assertThat(restarted.isLeftBehind("c3", "h")).isTrue();
    assertThat(elsewhere.isLeftBehind("q", "other")).isFalse();
    assertThat(elsewhereRestarted.isLeftBehind("r", "other")).isFalse();
  }
}
