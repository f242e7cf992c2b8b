package io.lockkeeper.integration.fuzz;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Duration;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** Values for single fields: those that a field of that name would have, and those at the edges. */
final class Words {

  /** What the names of the attackers' locks begin with. */
  static final String TENANT = "tenant-a";

  private static final Set<String> FREEZING = Set.of("FreezeRequest", "UnfreezeRequest");
  private static final int MOST_NAME_BYTES = 512;
  private static final int HUGE = 70_000;
  private static final List<Long> EDGE_NUMBERS =
      List.of(
          0L,
          1L,
          -1L,
          2L,
          1_000L,
          1_001L,
          100_000L,
          10_000_000L,
          (long) Integer.MAX_VALUE,
          (long) Integer.MIN_VALUE,
          1L << 32,
          1L << 53,
          Long.MAX_VALUE,
          Long.MIN_VALUE);
  private static final List<Long> EDGE_SECONDS =
      List.of(
          0L,
          -1L,
          1L,
          3_600L,
          3_601L,
          31_536_000L,
          315_576_000_000L,
          315_576_000_001L,
          Long.MAX_VALUE,
          Long.MIN_VALUE);
  private static final List<Integer> EDGE_NANOS =
      List.of(0, 1, -1, 999_999_999, 1_000_000_000, Integer.MAX_VALUE, Integer.MIN_VALUE);
  private static final List<String> EDGE_NAMES =
      List.of(
          "",
          "/",
          "//",
          ".",
          "..",
          "../..",
          "a/../b",
          "%2e%2e",
          "%2E%2E%2F",
          "a%00b",
          "%",
          "%%",
          "a\u0000b",
          "a\nb",
          "a\u202Eb",
          "\uFEFF",
          "\u2028",
          "e\u0301",
          "\uD83D\uDD12",
          "/zookeeper",
          "zookeeper/config",
          "tenant-b",
          "tenant-b/",
          "tenant-b/*",
          "*",
          "tenant-a*",
          "_c_",
          "_c_00000000-0000-0000-0000-000000000000-lock-0000000001",
          "limit-1-000000000000-0000000001",
          "delay-1-000000000000-00000000-0000-0000-0000-000000000000",
          "{\"a\":1}",
          "${jndi:x}",
          "<b>",
          "'; --",
          "tenant-a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a",
          "TENANT-A/x",
          "tenant-a/.",
          "tenant-a//x");

  private final Random random;
  private final Loot loot;
  private final List<String> foreignNames;

  /** Takes values by {@code random}; {@code foreignNames} are locks of somebody else. */
  Words(Random random, Loot loot, List<String> foreignNames) {
    this.random = random;
    this.loot = loot;
    this.foreignNames = foreignNames;
  }

  /** Returns one of these. */
  <T> T oneOf(List<T> values) {
    return values.get(random.nextInt(values.size()));
  }

  /** Returns whether something happens that happens so many times of a hundred. */
  boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  /** Returns the name of a lock of the attackers'. */
  String ownName() {
    // Few names, so that many wait for the same; and many, so that much is held.
    return TENANT + "/n" + random.nextInt(chance(50) ? 24 : 1_000);
  }

  /** Returns what a field might well be. */
  String text(FieldDescriptor field) {
    return switch (field.getName()) {
      case "name" -> chance(90) ? ownName() : chance(50) ? oneOf(foreignNames) : edgeText();
      case "names" -> chance(90) ? ownName() : oneOf(foreignNames);
      // What is frozen is granted to nobody: most of the names are to stay.
      case "prefix" ->
          FREEZING.contains(field.getContainingType().getName())
              ? TENANT + "/n" + (20 + random.nextInt(10))
              : prefix();
      case "prefixes" -> prefix();
      case "lease_id" -> leaseId();
      case "lease" -> leaseName();
      case "lease_secret", "page_token" ->
          loot.find(field.getName(), random).map(String::valueOf).orElse("");
      case "request_id", "acquire", "release", "position", "unwatch", "watch_id" ->
          "r" + random.nextInt(64);
      case "custom" -> oneOf(List.of("a", "b", "-", "lock-", "read"));
      default -> oneOf(List.of("", "x", "worker 1", "maintenance"));
    };
  }

  private String prefix() {
    return chance(70) ? TENANT + "/n" + random.nextInt(30) : oneOf(List.of("", "tenant-b", TENANT));
  }

  /**
   * Returns what operators call a lease by: its tag, which is the first half of its id, or that.
   */
  private String leaseName() {
    String id = leaseId();
    return chance(50) ? id.substring(0, id.length() / 2) : id;
  }

  private String leaseId() {
    if (chance(25)) {
      return "";
    }
    return chance(10)
        ? String.format("%016x%016x", random.nextLong(), random.nextLong())
        : loot.find("lease_id", random).map(String::valueOf).orElse("");
  }

  /** Returns a text at some edge. */
  String edgeText() {
    return switch (random.nextInt(8)) {
      case 0 -> "n".repeat(MOST_NAME_BYTES - 1 + random.nextInt(3));
      case 1 -> "\u00e9".repeat(MOST_NAME_BYTES / 2) + (chance(50) ? "x" : "");
      case 2 -> "h".repeat(oneOf(List.of(31, 32, 33, 256, 257, 4_096, 4_097)));
      case 3 -> chance(5) ? "z".repeat(HUGE) : "z";
      case 4 -> noise();
      default -> chance(50) ? oneOf(EDGE_NAMES) : TENANT + "/" + oneOf(EDGE_NAMES);
    };
  }

  private String noise() {
    byte[] bytes = new byte[random.nextInt(40)];
    random.nextBytes(bytes);
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  /** Returns what a field might well be. */
  long number(FieldDescriptor field) {
    if (field.getName().equals("fencing_token") || field.getName().equals("held_tokens")) {
      return loot.find("fencing_token", random).map(v -> (Long) v).orElse(1L) + random.nextInt(2);
    }
    return field.getName().equals("limit") ? 3 : 1 + random.nextInt(3);
  }

  /** Returns a number at some edge. */
  long edgeNumber() {
    return chance(80) ? oneOf(EDGE_NUMBERS) : random.nextLong();
  }

  /** Returns what a field might well be. */
  Duration duration(FieldDescriptor field) {
    return field.getName().equals("ttl")
        ? Duration.newBuilder().setSeconds(2 + random.nextInt(14)).build()
        : Duration.newBuilder().setNanos(random.nextInt(1_000_000_000)).build();
  }

  /** Returns a duration at some edge, or one that is none. */
  Duration edgeDuration() {
    return Duration.newBuilder()
        .setSeconds(oneOf(EDGE_SECONDS))
        .setNanos(oneOf(EDGE_NANOS))
        .build();
  }
}
