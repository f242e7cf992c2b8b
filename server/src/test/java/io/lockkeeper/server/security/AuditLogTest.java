package io.lockkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the audit writes, and what it does when too much comes. */
class AuditLogTest {

  private static final Identity ALICE = Identity.of("jwt:alice");
  private static final JsonMapper JSON = new JsonMapper();

  private final AtomicLong now = new AtomicLong(5);
  private final Lines lines = new Lines();
  @TempDir private Path directory;

  /** A sink that keeps lines, and waits or fails when told. */
  private static final class Lines implements AuditLog.Sink {
    private final List<String> written = new CopyOnWriteArrayList<>();
    private final CountDownLatch asked = new CountDownLatch(1);
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private volatile boolean failing;
    private volatile boolean closed;

    @Override
    public void write(byte[] line) throws IOException {
      asked.countDown();
      try {
        gate.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      if (failing) {
        throw new IOException("no space left");
      }
      written.add(new String(line, StandardCharsets.UTF_8));
    }

    @Override
    public void close() {
      closed = true;
    }

    private List<JsonNode> json() {
      return written.stream().map(JSON::readTree).toList();
    }
  }

  private static Audit.Entry ok(String action) {
    return new Audit.Entry(action, ALICE, "10.0.0.7:5000", "OK", "", Map.of());
  }

  private static Audit.Entry okOf(int identity) {
    return new Audit.Entry(
        "Acquire", Identity.of("jwt:" + identity), "10.0.0.7:5000", "OK", "", Map.of());
  }

  private static Audit.Entry denied(String action, Identity identity) {
    return new Audit.Entry(action, identity, "10.0.0.7:5000", "PERMISSION_DENIED", "no", Map.of());
  }

  @Test
  void lineSaysAllThatIsKnown() {
    // Given
    AuditLog audit = new AuditLog(lines, now::get);

    // When
    audit.record(
        new Audit.Entry(
            "AdminService/ForceRelease",
            ALICE,
            "10.0.0.7:5000",
            "OK",
            "",
            Map.of("lock", "orders/42", "reason", "stuck")));
    audit.close();

    // Then
    JsonNode line = lines.json().get(0);
    assertThat(line.propertyNames())
        .containsExactly(
            "time", "id", "action", "identity", "peer", "result", "message", "details");
    assertThat(Instant.parse(line.get("time").asString())).isBefore(Instant.now().plusSeconds(1));
    assertThat(line.get("action").asString()).isEqualTo("AdminService/ForceRelease");
    assertThat(line.get("identity").asString()).isEqualTo("jwt:alice");
    assertThat(line.get("details").get("lock").asString()).isEqualTo("orders/42");
    assertThat(lines.written.get(0)).endsWith("}\n");
    assertThat(lines.closed).isTrue();
  }

  @Test
  void everyLineHasAnIdOfItsOwn() {
    // Given
    AuditLog audit = new AuditLog(lines, now::get);

    // When
    IntStream.range(0, 100).forEach(i -> audit.record(ok("a")));
    audit.close();

    // Then
    assertThat(lines.json().stream().map(line -> line.get("id").asString()))
        .hasSize(100)
        .doesNotHaveDuplicates();
  }

  @Test
  void namesThatWouldSteerATerminalOrLookLikeOthersAreEscaped() {
    // Given
    AuditLog audit = new AuditLog(lines, now::get);
    String nasty = "a\u202eb\n\u001b[31m\"\u00e4\ud83d\ude00\ud800\u2028\"}{\"action\":\"x";

    // When
    audit.record(
        new Audit.Entry(
            "a",
            Identity.of("jwt:\u00e4\"}{\ud83d\ude00"),
            nasty,
            "OK",
            nasty,
            Map.of("lock", nasty)));
    audit.close();

    // Then
    assertThat(lines.written).hasSize(1);
    assertThat(lines.written.get(0).strip()).matches("[ -~]*").contains("\\u202E", "\\u001B");
    assertThat(lines.json().get(0).get("details").get("lock").asString()).isEqualTo(nasty);
    assertThat(lines.json().get(0).get("action").asString()).isEqualTo("a");
  }

  @Test
  void releaseRequestsBeyondTwentyInTenSecondsAreCounted() {
    // Given
    AuditLog audit = new AuditLog(lines, now::get);

    // When
    IntStream.range(0, 1_000).forEach(i -> audit.record(ok(Audit.RELEASE_REQUEST)));
    audit.close();

    // Then
    assertThat(lines.json()).hasSize(20 + 1);
  }

  @Test
  void denialsThatAreAlikeBeyondTwentyInTenSecondsAreCounted() {
    // Given
    AuditLog audit = new AuditLog(lines, now::get);

    // When
    IntStream.range(0, 1_000).forEach(i -> audit.record(denied("Acquire", ALICE)));
    audit.record(denied("Acquire", Identity.of("jwt:bob")));
    audit.record(denied("Release", ALICE));
    audit.record(ok("Acquire"));
    audit.close();

    // Then
    List<JsonNode> written = lines.json();
    assertThat(written).hasSize(20 + 3 + 1);
    JsonNode counted = written.get(written.size() - 1);
    assertThat(counted.get("message").asString()).startsWith("980 more of these within 10 s");
    assertThat(counted.get("action").asString()).isEqualTo("Acquire");
    assertThat(counted.get("identity").asString()).isEqualTo("jwt:alice");
    assertThat(counted.get("details").get("count").asString()).isEqualTo("980");
  }

  @Test
  void countIsWrittenWhenItsTenSecondsAreOverAndThenDenialsAreShownAgain() {
    // Given
    AuditLog audit = new AuditLog(lines, now::get);
    IntStream.range(0, 25).forEach(i -> audit.record(denied("Acquire", ALICE)));

    // When
    now.addAndGet(AuditLog.DENIALS_WINDOW.toNanos());
    Awaitility.await().until(() -> lines.written.size() == 21);
    audit.record(denied("Acquire", ALICE));
    audit.close();

    // Then
    assertThat(lines.json()).hasSize(22);
    assertThat(lines.json())
        .filteredOn(line -> line.get("message").asString().startsWith("5 more of these"))
        .hasSize(1);
  }

  @Test
  void whatGoesWellIsNotCollapsedAsDenialsAre() {
    // Given
    AuditLog audit = new AuditLog(lines, now::get);

    // When
    IntStream.range(0, 500).forEach(i -> audit.record(ok("Acquire")));
    audit.close();

    // Then
    assertThat(lines.written).hasSize(500);
  }

  @Test
  void successesOfOneActionBeyondTheLimitAreCountedAndThoseOfOtherActionsAndIdentitiesWritten() {
    // Given
    AuditLog audit = new AuditLog(lines, now::get);

    // When
    IntStream.range(0, AuditLog.MAX_OF_IDENTITY + 500).forEach(i -> audit.record(ok("Freeze")));
    audit.record(ok("ForceRelease"));
    audit.record(denied("Acquire", Identity.of("jwt:bob")));
    audit.close();

    // Then: the first ones, that the limit is reached, the others, and how many are missing
    List<JsonNode> written = lines.json();
    assertThat(written).hasSize(AuditLog.MAX_OF_IDENTITY + 4);
    assertThat(written.get(0).get("action").asString()).isEqualTo("Freeze");
    assertThat(written.get(AuditLog.MAX_OF_IDENTITY).get("message").asString())
        .startsWith("the limit of 1000 of these within 600 s is reached");
    assertThat(written.get(AuditLog.MAX_OF_IDENTITY + 1).get("action").asString())
        .isEqualTo("ForceRelease");
    assertThat(written.get(AuditLog.MAX_OF_IDENTITY + 2).get("identity").asString())
        .isEqualTo("jwt:bob");
    JsonNode counted = written.get(AuditLog.MAX_OF_IDENTITY + 3);
    assertThat(counted.get("identity").asString()).isEqualTo("jwt:alice");
    assertThat(counted.get("action").asString()).isEqualTo("Freeze");
    assertThat(counted.get("message").asString()).startsWith("500 more of these within 600 s");
  }

  @Test
  void denialsOfAnIdentityShareALimitThatHidesNoSuccess() {
    // Given
    AuditLog audit = new AuditLog(lines, now::get);

    // When
    IntStream.range(0, AuditLog.MAX_OF_IDENTITY + 500)
        .forEach(i -> audit.record(denied("ForceRelease" + i % 100, ALICE)));
    audit.record(ok("ForceRelease0"));
    audit.close();

    // Then
    List<JsonNode> written = lines.json();
    assertThat(written).hasSize(AuditLog.MAX_OF_IDENTITY + 3);
    JsonNode success = written.get(AuditLog.MAX_OF_IDENTITY + 1);
    assertThat(success.get("result").asString()).isEqualTo("OK");
  }

  @Test
  void denialsOfEverNewIdentitiesAreCountedTogetherInTheEndAndNameNoneOfThem() {
    // Given
    RepeatedEntries denials = new RepeatedEntries(20, Duration.ofSeconds(10), 1_000);

    // When
    List<RepeatedEntries.Count> counts =
        IntStream.range(0, 50_000).mapToObj(i -> denials.count(kind(i, "DENIED"), 0)).toList();

    // Then
    assertThat(counts.get(49_999).kind().identity()).isEqualTo(Identity.of("any"));
    long shown = counts.stream().filter(count -> count.number() <= 20).count();
    assertThat(shown).isEqualTo(1_000 + 20);
    assertThat(denials.countedSoFar())
        .singleElement()
        .satisfies(
            entry ->
                assertThat(entry.details().get("count")).isEqualTo(Long.toString(50_000 - shown)));
  }

  @Test
  void successesOfMoreKindsThanAreToldApartAreNotLimited() {
    // Given
    RepeatedEntries entries = new RepeatedEntries(20, Duration.ofSeconds(10), 1_000);

    // When
    List<RepeatedEntries.Count> counts =
        IntStream.range(0, 5_000).mapToObj(i -> entries.count(kind(i, Audit.OK), 0)).toList();

    // Then
    assertThat(counts).allMatch(count -> count.number() == 1);
    assertThat(counts.get(4_999).kind()).isEqualTo(kind(4_999, Audit.OK));
  }

  private static RepeatedEntries.Kind kind(int identity, String result) {
    return new RepeatedEntries.Kind("Acquire", Identity.of("jwt:" + identity), result);
  }

  @Test
  void entriesThatFindTheQueueFullAreCountedAndNobodyWaits() throws InterruptedException {
    // Given
    lines.gate = new CountDownLatch(1);
    AuditLog audit = new AuditLog(lines, now::get);
    audit.record(ok("first"));
    lines.asked.await();

    // When: one is with the sink, and a queue is full
    IntStream.range(0, AuditLog.MAX_QUEUED + 7).forEach(i -> audit.record(okOf(i % 100)));
    lines.gate.countDown();
    audit.close();

    // Then
    assertThat(audit.dropped()).isEqualTo(7);
    assertThat(lines.json())
        .filteredOn(line -> line.get("action").asString().equals("audit"))
        .singleElement()
        .satisfies(
            line -> assertThat(line.get("message").asString()).isEqualTo("7 entries dropped"));
    assertThat(lines.json()).hasSize(AuditLog.MAX_QUEUED + 2);
  }

  @Test
  void entriesThatCannotBeWrittenAreCountedAndToldOnceTheyCan() {
    // Given
    AuditLog audit = new AuditLog(lines, now::get);
    lines.failing = true;
    IntStream.range(0, 3).forEach(i -> audit.record(ok("lost")));
    Awaitility.await().until(() -> audit.dropped() == 3);

    // When
    lines.failing = false;
    audit.record(ok("kept"));
    audit.close();

    // Then
    assertThat(lines.json().stream().map(line -> line.get("message").asString()))
        .contains("3 entries dropped");
    assertThat(lines.json().stream().map(line -> line.get("action").asString())).contains("kept");
  }

  @Test
  void closedAuditHasWrittenAllAndTakesNothingMore() {
    // Given
    AuditLog audit = new AuditLog(lines, now::get);
    IntStream.range(0, 5_000).forEach(i -> audit.record(okOf(i % 100)));

    // When
    audit.close();
    audit.record(ok("late"));

    // Then
    assertThat(lines.written).hasSize(5_000);
    assertThat(audit.dropped()).isEqualTo(1);
  }

  @Test
  void fileIsRenamedBeforeItGrowsTooLargeAndTheOldestGoes() throws IOException {
    // Given
    Path file = directory.resolve("audit.log");
    AuditLog audit = AuditLog.to(new AuditLog.Target(Optional.of(file), 1_000, 2));

    // When
    IntStream.range(0, 50).forEach(i -> audit.record(ok("Acquire" + i)));
    audit.close();

    // Then
    try (var files = Files.list(directory)) {
      assertThat(files.map(path -> path.getFileName().toString()))
          .containsExactlyInAnyOrder("audit.log", "audit.log.1", "audit.log.2");
    }
    for (String name : List.of("audit.log", "audit.log.1", "audit.log.2")) {
      assertThat(Files.size(directory.resolve(name))).isBetween(1L, 1_000L);
    }
    assertThat(Files.readString(file)).contains("Acquire49");
    List<String> last = Files.readAllLines(directory.resolve("audit.log.1"));
    String first = Files.readAllLines(file).get(0);
    assertThat(number(first)).isEqualTo(number(last.get(last.size() - 1)) + 1);
  }

  private static int number(String line) {
    return Integer.parseInt(JSON.readTree(line).get("action").asString().substring(7));
  }

  @Test
  void fileGoesOnWhereItEnded() throws IOException {
    // Given
    Path file = directory.resolve("audit.log");
    AuditLog.Target target = new AuditLog.Target(Optional.of(file), 1_000_000, 2);
    AuditLog first = AuditLog.to(target);
    first.record(ok("before"));
    first.close();

    // When
    AuditLog second = AuditLog.to(target);
    second.record(ok("after"));
    second.close();

    // Then
    assertThat(Files.readAllLines(file)).hasSize(2);
    assertThat(Files.getPosixFilePermissions(file).toString()).doesNotContain("OTHERS");
  }

  @Test
  void noFilesAreKeptWhereNoneShallBe() throws IOException {
    // Given
    Path file = directory.resolve("audit.log");
    AuditLog audit = AuditLog.to(new AuditLog.Target(Optional.of(file), 300, 0));

    // When
    IntStream.range(0, 10).forEach(i -> audit.record(ok("Acquire")));
    audit.close();

    // Then
    try (var files = Files.list(directory)) {
      assertThat(files).containsExactly(file);
    }
  }

  @Test
  void fileThatCannotBeOpenedIsAnErrorAtTheStart() {
    // When // Then
    assertThatThrownBy(
            () ->
                AuditLog.to(
                    new AuditLog.Target(Optional.of(directory.resolve("no/such/dir")), 300, 0)))
        .isInstanceOf(IOException.class);
  }
}
