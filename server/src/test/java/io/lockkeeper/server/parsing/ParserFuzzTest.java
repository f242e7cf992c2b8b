package io.lockkeeper.server.parsing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.rpc.wire.Fields;
import io.lockkeeper.server.rpc.wire.InvalidRequestException;
import io.lockkeeper.server.security.Policy;
import io.lockkeeper.server.security.StaticTokens;
import io.lockkeeper.server.zookeeper.commit.LeaseRecording;
import io.lockkeeper.server.zookeeper.record.ClaimRecord;
import io.lockkeeper.server.zookeeper.record.EntryData;
import io.lockkeeper.server.zookeeper.record.FreezeRecord;
import io.lockkeeper.server.zookeeper.record.MemberRecord;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * Readers of names, records, files and tokens: whatever they are given, they read it or refuse it
 * as their documentation says, and throw nothing else.
 */
final class ParserFuzzTest {

  private static final String SEED = "4711";
  private static final int TRIES = 4_000;
  // A reason quotes what it is about.
  private static final int LONGEST_REASON = 20_000;
  private static final int FILE_TRIES = 1_000;
  private static final String CLAIM = "1000000000000001";
  private static final String UUID = "0123abcd-0123-4567-89ab-0123456789ab";

  private static final List<String> PIECES =
      List.of(
          "",
          "{",
          "}",
          "[",
          "]",
          "\"",
          "\\",
          "\\u0000",
          ":",
          ",",
          "-",
          "*",
          "&a ",
          "*a",
          "!!int ",
          "? ",
          "---\n",
          "%",
          "%2F",
          "%2e%2e",
          "%ZZ",
          "%FF",
          "/",
          "..",
          "\u0000",
          "\u202E",
          "\uD83D\uDD12",
          "1e999999999",
          "-1",
          "99999999999999999999",
          "NaN",
          "null",
          "true",
          "\t",
          "0x10",
          "\uFEFF",
          "[".repeat(3_000),
          "{\"a\":".repeat(3_000),
          "9".repeat(3_000));

  private static final List<String> RECORDS =
      List.of(
          "{\"format\":1,\"lease\":\"0a\",\"request\":\"r\",\"owner\":\"o\",\"holder\":\"h\","
              + "\"metadata\":{\"k\":\"v\"},\"index\":3,\"part\":1,\"token\":7,\"release\":{}}",
          "{\"format\":1,\"owner\":\"c1\",\"home\":\"h\",\"session\":\""
              + CLAIM
              + "\",\"password\":\"00ff\",\"timeoutMillis\":20000,\"epoch\":3,\"alone\":true}",
          "{\"format\":1,\"address\":\"10.0.0.1:7460\",\"home\":\"h\"}",
          "{\"format\":1,\"ttlMillis\":15000,\"holder\":\"h\",\"secretHash\":\"00\","
              + "\"identity\":\"token:a\"}",
          "{\"format\":1,\"reason\":\"r\",\"by\":\"b\",\"thawsAtMillis\":1}",
          "192.168.0.7");

  private static final List<String> NAMES =
      List.of(
          "orders%2F42",
          "%2E.%C3%BC",
          "_c_" + UUID + "-lock-0000000012",
          "_c_" + UUID + "-__READ__0000000012",
          "_c_" + UUID + "-lock--000000012",
          "limit-5-0123456789ab-0000000012",
          "delay-5000-" + AccountTag.NOBODY + "-" + UUID);

  private static final String POLICY =
      """
      rules:
        - name: shop
          identities: ["spiffe://prod.example/ns/*/sa/**", "jwt:shop-*", anonymous]
          locks: ["orders/*", "payments/settle"]
          rights: [read, acquire, watch]
      limits:
        - {identities: ["*"], leases: 1000, max-ttl: 60s, metadata-bytes: 0}
      namespaces:
        - {names: [orders], acquisitions: 10}
      """;

  private static final String TOKENS =
      """
      tokens:
        - {name: "ci", sha256: "%s"}
      """
          .formatted("ab".repeat(32));

  /** Returns a sample with a few wrong things in it. */
  private static byte[] damaged(List<String> samples, Random random) {
    byte[] bytes = bytes(samples.get(random.nextInt(samples.size())));
    for (int i = random.nextInt(4); i >= 0; i--) {
      int at = random.nextInt(bytes.length + 1);
      int to = Math.min(bytes.length, at + random.nextInt(8));
      byte[] piece = bytes(PIECES.get(random.nextInt(PIECES.size())));
      bytes =
          switch (random.nextInt(5)) {
            case 0 -> joined(bytes, at, piece, at);
            case 1 -> joined(bytes, at, piece, to);
            case 2 -> joined(bytes, at, new byte[] {(byte) random.nextInt()}, to);
            case 3 -> joined(bytes, to, Arrays.copyOfRange(bytes, at, bytes.length), at);
            default -> Arrays.copyOf(bytes, at);
          };
    }
    return bytes;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] joined(byte[] bytes, int until, byte[] piece, int from) {
    byte[] all = new byte[until + piece.length + bytes.length - from];
    System.arraycopy(bytes, 0, all, 0, until);
    System.arraycopy(piece, 0, all, until, piece.length);
    System.arraycopy(bytes, from, all, until + piece.length, bytes.length - from);
    return all;
  }

  private static String text(byte[] bytes, Random random) {
    return new String(
        bytes, random.nextBoolean() ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1);
  }

  @Property(tries = TRIES, seed = SEED)
  void namesOfNodesAreReadOrRefusedAndNeverThrow(@ForAll long seed) {
    // Given
    Random random = new Random(seed);
    String name = text(damaged(NAMES, random), random);

    // When, Then
    assertThatCode(
            () -> {
              LockName.decode(name).ifPresent(lock -> assertThat(lock.encoded()).isEqualTo(name));
              LockName.decodePrefix(name);
              EntryName.parse(name).ifPresent(entry -> assertThat(entry.text()).isEqualTo(name));
              MarkerName.parse(name).ifPresent(mark -> assertThat(mark.text()).isEqualTo(name));
              LeaseId.parse(name);
            })
        .as(name)
        .doesNotThrowAnyException();
  }

  @Property(tries = TRIES, seed = SEED)
  void nameOfALockHasAProblemExactlyIfItCannotBeMade(@ForAll long seed) {
    // Given
    Random random = new Random(seed);
    String name = text(damaged(NAMES, random), random);

    // When
    boolean good = LockName.problemOf(name).isEmpty();

    // Then
    if (good) {
      assertThat(LockName.decode(new LockName(name).encoded())).contains(new LockName(name));
    } else {
      assertThatCode(() -> new LockName(name)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Property(tries = TRIES, seed = SEED)
  void recordsInZooKeeperAreReadOrRefusedAndNeverThrow(@ForAll long seed) {
    // Given
    byte[] record = damaged(RECORDS, new Random(seed));

    // When, Then
    assertThatCode(
            () -> {
              EntryData.read(record, 1).token();
              LeaseRecording.read(new LeaseId(1, 2), record);
              ClaimRecord.read(CLAIM, record).ifPresent(ClaimRecord::write);
              MemberRecord.read(record);
              FreezeRecord.read("orders/", record);
            })
        .as(new String(record, StandardCharsets.UTF_8))
        .doesNotThrowAnyException();
  }

  @Property(tries = FILE_TRIES, seed = SEED)
  void policyIsTakenOrRefusedWithAReason(@ForAll long seed) {
    assertRefusesOnly(
        () -> Policy.parse(damaged(List.of(POLICY), new Random(seed))),
        IllegalArgumentException.class,
        seed);
  }

  @Property(tries = FILE_TRIES, seed = SEED)
  void fileOfTokensIsTakenOrRefusedWithAReason(@ForAll long seed) {
    assertRefusesOnly(
        () -> StaticTokens.parse(damaged(List.of(TOKENS), new Random(seed))),
        IllegalArgumentException.class,
        seed);
  }

  @Property(tries = TRIES, seed = SEED)
  void pageTokenIsTakenOrRefusedWithAReason(@ForAll long seed) {
    Random random = new Random(seed);
    String sample = Fields.toPageToken("orders/\u00fc42");
    assertRefusesOnly(
        () -> Fields.pageToken("page_token", text(damaged(List.of(sample), random), random)),
        InvalidRequestException.class,
        seed);
  }

  private static void assertRefusesOnly(
      Runnable parser, Class<? extends RuntimeException> refusal, long seed) {
    // When, Then
    try {
      parser.run();
    } catch (RuntimeException e) {
      assertThat(e).as("seed " + seed).isInstanceOf(refusal);
      assertThat(e.getMessage()).as("seed " + seed).isNotBlank().hasSizeLessThan(LONGEST_REASON);
    }
  }
}
