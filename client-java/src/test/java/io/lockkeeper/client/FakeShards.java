package io.lockkeeper.client;

import io.grpc.inprocess.InProcessChannelBuilder;
import io.lockkeeper.v1.PlacedNamespace;
import io.lockkeeper.v1.Shard;
import io.lockkeeper.v1.ShardTable;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Several shards of one server each. Who serves a namespace is said by {@link #serve}; what the
 * tables say is another matter, so that they may be wrong.
 */
final class FakeShards implements AutoCloseable {

  private final String prefix = "shards-" + UUID.randomUUID() + "-";
  private final Map<String, FakeShard> shards = new LinkedHashMap<>();
  private final Map<String, String> served = new ConcurrentHashMap<>();

  /** Starts servers without a table. The first one serves whatever is not said. */
  FakeShards(String... ids) throws IOException {
    for (String id : ids) {
      shards.put(id, new FakeShard(id, this, prefix + address(id)));
    }
  }

  static String address(String id) {
    return id + ":1";
  }

  FakeShard shard(String id) {
    return shards.get(id);
  }

  /** From now on, the shard serves the namespace, whatever the tables say. */
  void serve(String namespace, String id) {
    served.put(namespace, id);
  }

  /** Returns who serves the namespace of a name. */
  String serving(String name) {
    String first = shards.keySet().iterator().next();
    return served.getOrDefault(name.split("/", 2)[0], first);
  }

  /** Makes a table of all shards, each hashed, with these namespaces. */
  ShardTable table(long version, Map<String, String> namespaces) {
    ShardTable.Builder table = ShardTable.newBuilder().setVersion(version);
    shards.keySet().stream().sorted().forEach(id -> table.addShards(message(id)));
    new TreeMap<>(namespaces)
        .forEach(
            (namespace, id) ->
                table.addNamespaces(
                    PlacedNamespace.newBuilder().setNamespace(namespace).setShard(id)));
    return table.build();
  }

  static Shard message(String id) {
    return Shard.newBuilder().setId(id).addAddresses(address(id)).setHashed(true).build();
  }

  /** Gives all shards the table that says who serves what, and these namespaces by name. */
  void publish(long version, Map<String, String> namespaces) {
    namespaces.forEach(this::serve);
    ShardTable table = table(version, namespaces);
    shards.values().forEach(shard -> shard.setTable(table));
  }

  /** Begins to build a client that is given the addresses of one shard. */
  LockkeeperClientBuilder clientOf(String id) {
    return LockkeeperClient.builder(address(id))
        .channels(address -> InProcessChannelBuilder.forName(prefix + address).build());
  }

  @Override
  public void close() {
    shards.values().forEach(FakeShard::close);
  }
}
