package io.lockkeeper.integration.hostile;

import com.google.protobuf.ByteString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * What somebody puts under our root, by a plain client that may do anything.
 *
 * @param what it, in words
 * @param parent the directory under the root
 * @param mode how it is made
 * @param data what each node holds
 * @param names the nodes
 */
record Planted(String what, String parent, CreateMode mode, ByteString data, List<String> names) {

  private static Planted planted(String what, String parent, byte[] data, String... names) {
    return planted(what, parent, CreateMode.PERSISTENT, data, names);
  }

  private static Planted planted(
      String what, String parent, CreateMode mode, byte[] data, String... names) {
    return new Planted(what, parent, mode, ByteString.copyFrom(data), List.of(names));
  }

  /** Returns everything that there is to plant. */
  static List<Planted> all() {
    return Stream.of(inSessions(), inCoordinators(), inLeases(), inLocks())
        .flatMap(List::stream)
        .toList();
  }

  private static List<Planted> inSessions() {
    return List.of(
        planted("garbage claim", "sessions", garbage(), "00000000000000a1"),
        planted("empty claim", "sessions", new byte[0], "00000000000000a2"),
        planted("large claim", "sessions", large(), "00000000000000a3"),
        planted(
            "claim of huge numbers",
            "sessions",
            bytes(
                "{\"format\":1,\"owner\":\"gone\",\"session\":\"00000000000000a4\",\"password\":\"00ff\","
                    + "\"timeoutMillis\":9223372036854775807,\"epoch\":9223372036854775807}"),
            "00000000000000a4"),
        planted(
            "claim of negative numbers",
            "sessions",
            bytes(
                "{\"format\":1,\"owner\":\"gone\",\"session\":\"00000000000000a5\",\"password\":\"00ff\","
                    + "\"timeoutMillis\":-5,\"epoch\":-7}"),
            "00000000000000a5"),
        planted(
            "claim of a newer format",
            "sessions",
            bytes(
                "{\"format\":99,\"owner\":\"gone\",\"session\":\"00000000000000a6\",\"password\":\"00ff\"}"),
            "00000000000000a6"),
        planted(
            "claim under another name",
            "sessions",
            bytes(
                "{\"format\":1,\"owner\":\"gone\",\"session\":\"00000000000000ff\",\"password\":\"00ff\"}"),
            "00000000000000a7"),
        planted("names that are no claims", "sessions", garbage(), strangeNames()),
        planted("deep json in a claim", "sessions", deep(), "00000000000000a8"),
        planted("thousands of foreign claims", "sessions", new byte[0], many("zz-", 2_000)));
  }

  private static List<Planted> inCoordinators() {
    return List.of(
        planted("garbage member", "coordinators", garbage(), "garbage-member"),
        planted("large member", "coordinators", large(), "large-member"),
        planted(
            "member with control characters",
            "coordinators",
            bytes("{\"format\":1,\"address\":\"evil\\u0000\\u001b[2J\\n:1\"}"),
            "control-member"),
        planted(
            "member with a long address",
            "coordinators",
            bytes("{\"format\":1,\"address\":\"" + "a".repeat(900_000) + ":1\"}"),
            "long-member"),
        planted("names that are no members", "coordinators", garbage(), strangeNames()),
        planted(
            "ephemeral garbage member",
            "coordinators",
            CreateMode.EPHEMERAL,
            garbage(),
            "ephemeral-garbage"),
        planted("thousands of foreign members", "coordinators", new byte[0], many("~zz-", 2_000)));
  }

  private static List<Planted> inLeases() {
    return List.of(
        planted("garbage lease", "leases", garbage(), "0123456789abcdef0123456789abcd01"),
        planted("large lease", "leases", large(), "0123456789abcdef0123456789abcd02"),
        planted(
            "forged lease",
            "leases",
            bytes(
                "{\"format\":1,\"ttlMillis\":15000,\"holder\":\"forged\",\"secretHash\":\"00ff\"}"),
            "0123456789abcdef0123456789abcd03"),
        planted(
            "lease on a strangers session",
            "leases",
            CreateMode.EPHEMERAL,
            bytes(
                "{\"format\":1,\"ttlMillis\":15000,\"holder\":\"forged\",\"secretHash\":\"00ff\"}"),
            "0123456789abcdef0123456789abcd04"),
        planted("names that are no leases", "leases", garbage(), strangeNames()));
  }

  private static List<Planted> inLocks() {
    return List.of(
        planted("names that are no locks", "locks", garbage(), strangeNames()),
        planted("lock directory with data", "locks", large(), "large-directory"),
        planted(
            "ephemeral lock directory",
            "locks",
            CreateMode.EPHEMERAL,
            garbage(),
            "ephemeral-directory"),
        planted("foreign children of a lock", "locks/foreign", garbage(), strangeNames()),
        planted("large foreign entries", "locks/large", large(), entryNames(8)),
        planted("garbage entries", "locks/garbage", garbage(), entryNames(8)),
        planted("deep json in entries", "locks/deep", deep(), entryNames(2)),
        planted(
            "entries of huge numbers",
            "locks/huge",
            bytes(
                "{\"format\":1,\"lease\":\"x\",\"request\":\"y\",\"index\":99999999999999999999,"
                    + "\"part\":-1,\"token\":\"99999999999999999999\",\"wait_ms\":9223372036854775807}"),
            entryNames(4)),
        planted("entries with children", "locks/nested", garbage(), nestedEntryNames()),
        planted(
            "markers",
            "locks/markers",
            garbage(),
            "_limit-9999999999-0000000001",
            "_limit--5-0000000002",
            "_guard-x",
            "_guard-00000000-0000-0000-0000-000000000000-99999999999"),
        planted("thousands of foreign locks", "locks", new byte[0], many("%%zz-", 4_000)));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] garbage() {
    return new byte[] {0, (byte) 0xff, '{', (byte) 0xc0, (byte) 0x80, 27, '[', '2', 'J', '\n'};
  }

  /** As much as ZooKeeper takes, and looking like JSON. */
  private static byte[] large() {
    byte[] data = new byte[(1 << 20) - 2_000];
    Arrays.fill(data, (byte) 'x');
    byte[] head = bytes("{\"format\":1,\"lease\":\"");
    System.arraycopy(head, 0, data, 0, head.length);
    return data;
  }

  private static byte[] deep() {
    return bytes("{\"a\":".repeat(100_000));
  }

  private static String[] strangeNames() {
    return new String[] {
      "%2e%2e",
      "%00",
      "%ff",
      "%c0%af",
      "%e0%80%af",
      "%2F",
      "%2f",
      "a%",
      "a%2",
      "%zz",
      "...",
      "-",
      "ünïcödé",
      "\u202egpj",
      "n".repeat(500),
      "%25%32%65"
    };
  }

  private static String[] entryNames(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> String.format("_c_%08d-1111-2222-3333-444444444444-lock-%010d", i, i))
        .toArray(String[]::new);
  }

  private static String[] nestedEntryNames() {
    String entry = entryNames(1)[0];
    return new String[] {entry, entry + "/below", entry + "/below/that"};
  }

  private static String[] many(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(i -> prefix + i).toArray(String[]::new);
  }

  /** Returns which of the root's directories it is in. */
  String directory() {
    return parent.replaceFirst("/.*", "");
  }

  /** Returns the paths of all that is planted. */
  List<String> paths(String root) {
    return names.stream().map(name -> root + "/" + parent + "/" + name).toList();
  }

  /** Plants it. */
  void plant(ZooKeeper client, String root) throws Exception {
    String directory = root + "/" + parent;
    try {
      client.create(directory, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    } catch (KeeperException.NodeExistsException there) {
      client.sync(directory, (rc, path, ctx) -> {}, null);
    }
    List<Integer> codes = new ArrayList<>();
    for (String path : paths(root)) {
      client.create(
          path,
          data.toByteArray(),
          Ids.OPEN_ACL_UNSAFE,
          mode,
          (rc, at, ctx, name) -> {
            synchronized (codes) {
              codes.add(rc);
            }
          },
          null);
    }
    client.getData(directory, false, null);
    synchronized (codes) {
      if (codes.stream().anyMatch(rc -> rc != 0)) {
        throw new IllegalStateException(what + " was not planted: " + codes);
      }
    }
  }

  @Override
  public String toString() {
    return what;
  }
}
