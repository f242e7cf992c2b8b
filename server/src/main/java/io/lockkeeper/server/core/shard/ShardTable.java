package io.lockkeeper.server.core.shard;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Which shard serves which namespace. What it does not name is served by one of the hashed shards,
 * by rendezvous hashing: where a shard is added, only what it takes moves.
 *
 * @param version rises with every change; zero: there is no table, and one ensemble serves all
 * @param lead the id of the shard whose ensemble has the table first
 * @param shards the shards by id
 * @param namespaces the namespaces that are named
 * @param moves where namespaces are on their way to: each is named, too
 * @param joining the id of a shard that is about to be hashed: what it will take is on its way to
 *     it; empty: none is
 * @param service a random name that the service got with its first table
 */
public record ShardTable(
    long version,
    String lead,
    NavigableMap<String, Shard> shards,
    NavigableMap<String, Placed> namespaces,
    NavigableMap<String, String> moves,
    String joining,
    String service) {

  /** No table. */
  public static final ShardTable NONE =
      new ShardTable(0, "", new TreeMap<>(), new TreeMap<>(), new TreeMap<>(), "", "");

  /** The most shards. */
  public static final int MAX_SHARDS = 100;

  /** The most namespaces that are named. */
  public static final int MAX_NAMESPACES = 1_000;

  /** The most namespaces that move at a time. */
  public static final int MAX_MOVES = 100;

  /**
   * Where a namespace is.
   *
   * @param shard the id of the shard that serves it; while it moves, of the one that did
   * @param tokenEpochs how many epochs are added to ZooKeeper's in the tokens of its locks
   */
  public record Placed(String shard, int tokenEpochs) {}

  /** Copies what it is made of. */
  public ShardTable {
    shards = new TreeMap<>(shards);
    namespaces = new TreeMap<>(namespaces);
    moves = new TreeMap<>(moves);
  }

  /** Returns where a namespace is; empty where there is no table. */
  public Optional<Placed> place(String namespace) {
    Placed named = namespaces.get(namespace);
    return named != null ? Optional.of(named) : hashed(namespace);
  }

  private Optional<Placed> hashed(String namespace) {
    return heaviest(namespace, "").map(shard -> new Placed(shard.id(), shard.tokenEpochs()));
  }

  /** Returns the hashed shard of the highest weight, as if another one were hashed, too. */
  private Optional<Shard> heaviest(String namespace, String another) {
    Shard heaviest = null;
    long most = 0;
    // By id: of two with one weight the first is it.
    for (Shard shard : shards.values()) {
      if (shard.hashed() || shard.id().equals(another)) {
        long weight = weight(shard.id(), namespace);
        if (heaviest == null || Long.compareUnsigned(weight, most) > 0) {
          heaviest = shard;
          most = weight;
        }
      }
    }
    return Optional.ofNullable(heaviest);
  }

  /** Returns the weight of a shard for a namespace, an unsigned number. */
  static long weight(String id, String namespace) {
    byte[] text = (id + "/" + namespace).getBytes(StandardCharsets.UTF_8);
    try {
      return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(text)).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /** Returns where a namespace is on its way to, if it is. */
  public Optional<Shard> destination(String namespace) {
    Optional<Shard> moved = Optional.ofNullable(moves.get(namespace)).map(shards::get);
    return moved.isPresent() || joining.isEmpty() || namespaces.containsKey(namespace)
        ? moved
        : heaviest(namespace, joining).filter(shard -> shard.id().equals(joining));
  }

  /** Returns a shard of the table. */
  public Shard shard(String id) {
    return Optional.ofNullable(shards.get(id)).orElseThrow();
  }

  /** Returns what is wrong with the table as a whole, if anything is. */
  public Optional<String> problem() {
    if (version <= 0 || !shards.containsKey(lead)) {
      return Optional.of("must have a version above 0, and its lead among its shards");
    }
    if (shards.values().stream().noneMatch(Shard::hashed)) {
      return Optional.of("must have a hashed shard, for namespaces that it does not name");
    }
    if (!joining.isEmpty() && (!shards.containsKey(joining) || shard(joining).hashed())) {
      return Optional.of("lets a shard join that it does not have, or that is hashed already");
    }
    for (Map.Entry<String, Placed> named : namespaces.entrySet()) {
      if (!shards.containsKey(named.getValue().shard())) {
        return Optional.of(
            "gives namespace '" + named.getKey() + "' to a shard that it does not have");
      }
    }
    for (Map.Entry<String, String> move : moves.entrySet()) {
      if (!namespaces.containsKey(move.getKey()) || !shards.containsKey(move.getValue())) {
        return Optional.of(
            "moves namespace '" + move.getKey() + "', which it must name, to a shard that it has");
      }
    }
    return Optional.empty();
  }
}
