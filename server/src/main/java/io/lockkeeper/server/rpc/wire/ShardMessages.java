package io.lockkeeper.server.rpc.wire;

import io.lockkeeper.server.coordinator.api.ShardsView;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.shard.ShardRecord;
import io.lockkeeper.server.core.shard.ShardTable;
import io.lockkeeper.server.core.shard.ShardTable.Placed;
import io.lockkeeper.v1.ConfiguredLimit;
import io.lockkeeper.v1.GetShardsResponse;
import io.lockkeeper.v1.ListNamespacesRequest;
import io.lockkeeper.v1.ListNamespacesResponse;
import io.lockkeeper.v1.NamespaceEntries;
import io.lockkeeper.v1.NamespaceMove;
import io.lockkeeper.v1.PlacedNamespace;
import io.lockkeeper.v1.SetShardsRequest;
import io.lockkeeper.v1.Shard;
import io.lockkeeper.v1.WrongShard;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** Checks and translates what is said of shards. */
public final class ShardMessages {

  /** The most bytes of a table: a request takes no more. */
  private static final int MAX_BYTES = 60 * 1024;

  private static final int MAX_ADDRESS_BYTES = 256;
  private static final Pattern ADDRESS = Pattern.compile("[^\\s,/]+:[0-9]{1,5}");

  private ShardMessages() {}

  /** A table that is to be written. */
  public record Change(long expectedVersion, ShardRecord record) {}

  public static Change toChange(SetShardsRequest request) {
    ShardTable table = toTable(request.getTable());
    if (request.getExpectedVersion() < 0 || table.version() <= request.getExpectedVersion()) {
      throw Fields.invalid(
          "table.version",
          "must be above expected_version, which must not be negative; are "
              + table.version()
              + " and "
              + request.getExpectedVersion());
    }
    if (!table.shards().containsKey(request.getSelf())) {
      throw Fields.invalid("self", "must be one of the table's shards");
    }
    return new Change(request.getExpectedVersion(), new ShardRecord(request.getSelf(), table));
  }

  /**
   * Reads what a server has answered.
   *
   * @throws io.grpc.StatusRuntimeException if it is none
   */
  public static ShardRecord toRecord(GetShardsResponse response) {
    return response.getTable().getVersion() == 0
        ? ShardRecord.NONE
        : new ShardRecord(response.getSelf(), toTable(response.getTable()));
  }

  private static ShardTable toTable(io.lockkeeper.v1.ShardTable message) {
    most("table (bytes)", message.getSerializedSize(), MAX_BYTES);
    most("table.shards", message.getShardsCount(), ShardTable.MAX_SHARDS);
    most("table.namespaces", message.getNamespacesCount(), ShardTable.MAX_NAMESPACES);
    most("table.moves", message.getMovesCount(), ShardTable.MAX_MOVES);
    NavigableMap<String, io.lockkeeper.server.core.shard.Shard> shards = new TreeMap<>();
    for (int i = 0; i < message.getShardsCount(); i++) {
      String field = "table.shards[" + i + "]";
      Shard shard = message.getShards(i);
      once(field + ".id", shards.put(shard.getId(), toShard(field, shard)));
    }
    NavigableMap<String, Placed> namespaces = new TreeMap<>();
    for (int i = 0; i < message.getNamespacesCount(); i++) {
      String field = "table.namespaces[" + i + "]";
      PlacedNamespace named = message.getNamespaces(i);
      Placed place =
          new Placed(named.getShard(), epochs(field + ".token_epochs", named.getTokenEpochs()));
      String name = namespace(field + ".namespace", named.getNamespace());
      once(field + ".namespace", namespaces.put(name, place));
    }
    NavigableMap<String, String> moves = new TreeMap<>();
    for (int i = 0; i < message.getMovesCount(); i++) {
      NamespaceMove move = message.getMoves(i);
      once("table.moves[" + i + "].namespace", moves.put(move.getNamespace(), move.getTo()));
    }
    ShardTable table =
        new ShardTable(
            message.getVersion(),
            message.getLead(),
            shards,
            namespaces,
            moves,
            message.getJoining(),
            Fields.text("table.service", message.getService(), 64));
    table
        .problem()
        .ifPresent(
            problem -> {
              throw Fields.invalid("table", problem);
            });
    return table;
  }

  private static io.lockkeeper.server.core.shard.Shard toShard(String field, Shard shard) {
    if (!io.lockkeeper.server.core.shard.Shard.isId(shard.getId())) {
      throw Fields.invalid(
          field + ".id",
          "must be 1 to "
              + io.lockkeeper.server.core.shard.Shard.MAX_ID
              + " of a-z, 0-9 and '-': "
              + QuotedInput.of(shard.getId()));
    }
    int most = io.lockkeeper.server.core.shard.Shard.MAX_ADDRESSES;
    if (shard.getAddressesCount() < 1 || shard.getAddressesCount() > most) {
      throw Fields.invalid(
          field + ".addresses", "must be 1 to " + most + ", are " + shard.getAddressesCount());
    }
    for (int i = 0; i < shard.getAddressesCount(); i++) {
      String at = field + ".addresses[" + i + "]";
      String address = Fields.text(at, shard.getAddresses(i), MAX_ADDRESS_BYTES);
      if (!ADDRESS.matcher(address).matches()) {
        throw Fields.invalid(at, "must be host:port: " + QuotedInput.of(address));
      }
    }
    return new io.lockkeeper.server.core.shard.Shard(
        shard.getId(),
        shard.getAddressesList(),
        shard.getHashed(),
        epochs(field + ".token_epochs", shard.getTokenEpochs()));
  }

  private static void most(String field, int count, int most) {
    if (count > most) {
      throw Fields.invalid(field, "must be at most " + most + ", are " + count);
    }
  }

  private static <T> void once(String field, @org.jspecify.annotations.Nullable T before) {
    if (before != null) {
      throw Fields.invalid(field, "must not be there twice");
    }
  }

  private static int epochs(String field, int epochs) {
    if (epochs < 0 || epochs > FencingToken.MAX_ADDED_EPOCHS) {
      throw Fields.invalid(
          field, "must be 0 to " + FencingToken.MAX_ADDED_EPOCHS + ", is " + epochs);
    }
    return epochs;
  }

  private static String namespace(String field, String value) {
    Fields.lockName(field, value);
    if (value.indexOf('/') >= 0) {
      throw Fields.invalid(field, "must be one segment, without '/': " + QuotedInput.of(value));
    }
    return value;
  }

  public static Optional<String> toNamespace(ListNamespacesRequest request) {
    return request.getNamespace().isEmpty()
        ? Optional.empty()
        : Optional.of(namespace("namespace", request.getNamespace()));
  }

  /**
   * Makes the answer.
   *
   * @param visible which of the named namespaces are told
   */
  public static GetShardsResponse toResponse(ShardsView view, Predicate<String> visible) {
    ShardTable table = view.record().table();
    return GetShardsResponse.newBuilder()
        .setTable(toMessage(table, visible))
        .setPartial(!table.namespaces().keySet().stream().allMatch(visible))
        .setSelf(view.record().self())
        .setWrittenAt(view.zxid())
        .build();
  }

  /**
   * Makes the message of a whole table.
   *
   * @throws IllegalArgumentException if that would be too large
   */
  public static io.lockkeeper.v1.ShardTable toMessage(ShardTable table) {
    io.lockkeeper.v1.ShardTable message = toMessage(table, namespace -> true);
    if (message.getSerializedSize() > MAX_BYTES) {
      throw new IllegalArgumentException(
          "a table has at most "
              + MAX_BYTES
              + " bytes, and this one would have "
              + message.getSerializedSize());
    }
    return message;
  }

  private static io.lockkeeper.v1.ShardTable toMessage(
      ShardTable table, Predicate<String> visible) {
    io.lockkeeper.v1.ShardTable.Builder message =
        io.lockkeeper.v1.ShardTable.newBuilder()
            .setVersion(table.version())
            .setLead(table.lead())
            .setJoining(table.joining())
            .setService(table.service());
    table.shards().values().forEach(shard -> message.addShards(toMessage(shard)));
    table
        .namespaces()
        .forEach(
            (name, place) -> {
              if (visible.test(name)) {
                message.addNamespaces(
                    PlacedNamespace.newBuilder()
                        .setNamespace(name)
                        .setShard(place.shard())
                        .setTokenEpochs(place.tokenEpochs()));
              }
            });
    table
        .moves()
        .forEach(
            (name, to) -> {
              if (visible.test(name)) {
                message.addMoves(NamespaceMove.newBuilder().setNamespace(name).setTo(to));
              }
            });
    return message.build();
  }

  public static ListNamespacesResponse toResponse(Answer.NamespacesListed listed) {
    ListNamespacesResponse.Builder response =
        ListNamespacesResponse.newBuilder().setTruncated(listed.truncated());
    listed
        .entries()
        .forEach(
            (name, entries) ->
                response.addNamespaces(
                    NamespaceEntries.newBuilder()
                        .setNamespace(name)
                        .setEntries(entries)
                        .setDelays(listed.delays().getOrDefault(name, 0))));
    for (var limit : listed.limits().entrySet()) {
      LockName lock = limit.getKey();
      response.addLimits(
          ConfiguredLimit.newBuilder().setName(lock.value()).setLimit(limit.getValue()));
    }
    return response.build();
  }

  private static Shard toMessage(io.lockkeeper.server.core.shard.Shard shard) {
    return Shard.newBuilder()
        .setId(shard.id())
        .addAllAddresses(List.copyOf(shard.addresses()))
        .setHashed(shard.hashed())
        .setTokenEpochs(shard.tokenEpochs())
        .build();
  }

  static WrongShard toMessage(io.lockkeeper.server.core.shard.WrongShard wrong) {
    return WrongShard.newBuilder()
        .setNamespace(wrong.namespace())
        .setShard(toMessage(wrong.shard()))
        .setTableVersion(wrong.tableVersion())
        .build();
  }
}
