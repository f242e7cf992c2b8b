package io.lockkeeper.server.zookeeper.record;

import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.shard.Shard;
import io.lockkeeper.server.core.shard.ShardRecord;
import io.lockkeeper.server.core.shard.ShardTable;
import io.lockkeeper.server.core.shard.ShardTable.Placed;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/** What the node of the shards says: the table, and which of them the ensemble is. */
public final class ShardsData {

  private ShardsData() {}

  /** Returns the node's data. */
  public static byte[] write(ShardRecord record) {
    ShardTable table = record.table();
    Map<String, Object> shards = new LinkedHashMap<>();
    for (Shard shard : table.shards().values()) {
      shards.put(
          shard.id(),
          Map.of(
              "addresses", shard.addresses(),
              "hashed", shard.hashed(),
              "epochs", shard.tokenEpochs()));
    }
    Map<String, Object> namespaces = new LinkedHashMap<>();
    table
        .namespaces()
        .forEach(
            (name, place) ->
                namespaces.put(
                    name, Map.of("shard", place.shard(), "epochs", place.tokenEpochs())));
    Map<String, Object> object = RecordFormat.newRecord();
    object.put("self", record.self());
    object.put("version", table.version());
    object.put("lead", table.lead());
    object.put("shards", shards);
    object.put("namespaces", namespaces);
    object.put("moves", table.moves());
    object.put("joining", table.joining());
    object.put("service", table.service());
    return Json.write(object);
  }

  /** Reads a node's data: nothing is no table; empty is what nobody here can read. */
  public static Optional<ShardRecord> read(byte[] data) {
    if (data.length == 0) {
      return Optional.of(ShardRecord.NONE);
    }
    return Json.readRecord(data).map(ShardsData::read).filter(ShardsData::isWhole);
  }

  /** What would let tokens fall is none. */
  private static boolean isWhole(ShardRecord record) {
    ShardTable table = record.table();
    return table.problem().isEmpty()
        && table.shards().containsKey(record.self())
        && table.shards().values().stream().allMatch(shard -> isInRange(shard.tokenEpochs()))
        && table.namespaces().values().stream().allMatch(at -> isInRange(at.tokenEpochs()));
  }

  private static boolean isInRange(int epochs) {
    return epochs >= 0 && epochs <= FencingToken.MAX_ADDED_EPOCHS;
  }

  private static ShardRecord read(JsonNode object) {
    NavigableMap<String, Shard> shards = new TreeMap<>();
    for (Map.Entry<String, JsonNode> shard : object.path("shards").properties()) {
      List<String> addresses = new ArrayList<>();
      shard.getValue().path("addresses").forEach(address -> addresses.add(address.asString("")));
      shards.put(
          shard.getKey(),
          new Shard(
              shard.getKey(),
              addresses,
              shard.getValue().path("hashed").asBoolean(false),
              wanted(shard.getValue())));
    }
    NavigableMap<String, Placed> namespaces = new TreeMap<>();
    for (Map.Entry<String, JsonNode> named : object.path("namespaces").properties()) {
      namespaces.put(
          named.getKey(),
          new Placed(Json.text(named.getValue(), "shard"), wanted(named.getValue())));
    }
    ShardTable table =
        new ShardTable(
            Json.number(object, "version"),
            Json.text(object, "lead"),
            shards,
            namespaces,
            new TreeMap<>(Json.texts(object, "moves")),
            Json.text(object, "joining"),
            Json.text(object, "service"));
    return new ShardRecord(Json.text(object, "self"), table);
  }

  /** Returns the epochs of the table's, -1 where they are none. */
  private static int wanted(JsonNode object) {
    return object.path("epochs").asInt(-1);
  }

  /** Returns those of an entry, zero where it has none. */
  static int epochs(JsonNode object) {
    long epochs = Json.number(object, "epochs");
    return epochs >= 0 && epochs <= FencingToken.MAX_ADDED_EPOCHS ? (int) epochs : 0;
  }
}
