package io.lockkeeper.client.internal.shard;

import io.lockkeeper.client.internal.transport.Target;
import io.lockkeeper.v1.PlacedNamespace;
import io.lockkeeper.v1.Shard;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * Which shard serves what, as one ensemble's table says. A namespace that it does not name is
 * served by the hashed shard with the highest weight. Never changed; for any thread.
 */
public final class ShardTable {

  /** How many shards a table may have. */
  public static final int MOST_SHARDS = 1_000;

  private static final int MOST_NAMESPACES = 10_000;
  private static final int MOST_MOVES = 100;
  private static final int MOST_ADDRESSES = 16;

  /** How many hashed namespaces it remembers the shard of. */
  private static final int MOST_REMEMBERED = 10_000;

  private static final Pattern ID = Pattern.compile("[a-z0-9-]{1,32}");

  /** No table: nothing is known of any namespace. */
  public static final ShardTable NONE = new ShardTable(0, Map.of(), List.of(), Map.of());

  private final long version;
  private final Map<String, List<Target>> shards;
  private final List<String> hashed;
  private final Map<String, String> placed;
  private final Map<String, String> remembered = new ConcurrentHashMap<>();

  private ShardTable(
      long version,
      Map<String, List<Target>> shards,
      List<String> hashed,
      Map<String, String> placed) {
    this.version = version;
    this.shards = shards;
    this.hashed = hashed;
    this.placed = placed;
  }

  /**
   * Reads a table.
   *
   * @throws IllegalArgumentException if it is larger than a table may be, or contradicts itself
   */
  public static ShardTable of(io.lockkeeper.v1.ShardTable message) {
    require(message.getVersion() > 0, "a table has a version above zero");
    require(message.getShardsCount() <= MOST_SHARDS, "a table has at most 1,000 shards");
    require(message.getNamespacesCount() <= MOST_NAMESPACES, "a table names at most 10,000");
    require(message.getMovesCount() <= MOST_MOVES, "at most 100 namespaces move");
    Map<String, List<Target>> shards = new HashMap<>();
    TreeMap<String, Boolean> hashed = new TreeMap<>();
    for (Shard shard : message.getShardsList()) {
      require(shards.put(shard.getId(), addresses(shard)) == null, "a shard is there once");
      if (shard.getHashed()) {
        hashed.put(shard.getId(), true);
      }
    }
    Map<String, String> placed = new HashMap<>();
    for (PlacedNamespace each : message.getNamespacesList()) {
      require(shards.containsKey(each.getShard()), "a namespace is at a shard of the table");
      require(placed.put(each.getNamespace(), each.getShard()) == null, "a namespace is at one");
    }
    return new ShardTable(message.getVersion(), shards, List.copyOf(hashed.keySet()), placed);
  }

  private static void require(boolean holds, String rule) {
    if (!holds) {
      throw new IllegalArgumentException(rule);
    }
  }

  /** Returns whether {@code id} may be the name of a shard. */
  static boolean isId(String id) {
    return ID.matcher(id).matches();
  }

  private static List<Target> addresses(Shard shard) {
    int count = shard.getAddressesCount();
    require(isId(shard.getId()), "a shard's id is 1 to 32 of a-z, 0-9 and '-'");
    require(count >= 1 && count <= MOST_ADDRESSES, "a shard has 1 to 16 addresses");
    return shard.getAddressesList().stream().map(ShardTable::address).toList();
  }

  private static Target address(String text) {
    List<Target> one = Target.parseList(text);
    require(one.size() == 1, "an address is one host:port");
    return one.get(0);
  }

  /** Returns the version; zero: there is no table. */
  public long version() {
    return version;
  }

  /** Returns whether nothing is known. */
  boolean isEmpty() {
    return shards.isEmpty();
  }

  /** Returns the id of the shard that serves a namespace; empty: that is not known. */
  public Optional<String> shardOf(String namespace) {
    String named = placed.get(namespace);
    if (named != null || hashed.isEmpty()) {
      return Optional.ofNullable(named);
    }
    if (remembered.size() >= MOST_REMEMBERED) {
      remembered.clear();
    }
    return Optional.of(remembered.computeIfAbsent(namespace, this::heaviest));
  }

  /** Returns the addresses of a shard; empty: the table does not have it. */
  public List<Target> addressesOf(String id) {
    return shards.getOrDefault(id, List.of());
  }

  /** Of two with one weight the first counts: they are ordered by id. */
  private String heaviest(String namespace) {
    String heaviest = hashed.get(0);
    for (String id : hashed) {
      if (Long.compareUnsigned(weight(id, namespace), weight(heaviest, namespace)) > 0) {
        heaviest = id;
      }
    }
    return heaviest;
  }

  /** Returns the weight of a shard for a namespace, to be compared as unsigned. */
  static long weight(String shard, String namespace) {
    byte[] text = (shard + "/" + namespace).getBytes(StandardCharsets.UTF_8);
    try {
      return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(text)).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
  }

  /**
   * Returns this table, of the same version, with what one server has said of one namespace.
   * Unchanged, if that is malformed or there is no room.
   */
  ShardTable with(String namespace, Shard shard) {
    if (placed.size() >= MOST_NAMESPACES || shards.size() >= MOST_SHARDS) {
      return this;
    }
    Map<String, List<Target>> moreShards = new HashMap<>(shards);
    Map<String, String> morePlaced = new HashMap<>(placed);
    try {
      moreShards.put(shard.getId(), addresses(shard));
    } catch (IllegalArgumentException malformed) {
      return this;
    }
    morePlaced.put(namespace, shard.getId());
    return new ShardTable(version, moreShards, hashed, morePlaced);
  }
}
