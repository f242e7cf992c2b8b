package io.lockkeeper.client.internal.shard;

import io.grpc.Status;
import io.lockkeeper.client.ErrorReason;
import io.lockkeeper.client.LockSpec;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.RequestRefusedException;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.protocol.LockNames;
import io.lockkeeper.client.internal.transport.Target;
import io.lockkeeper.v1.GetShardsResponse;
import io.lockkeeper.v1.WrongShard;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which shard a client asks for what. There is no table until a server has said that another shard
 * serves a namespace: before that, everything goes to the servers that the client was given.
 */
public final class Shards {

  private static final Logger LOG = LoggerFactory.getLogger(Shards.class);

  /** How long a table is given to be changed everywhere, without jitter. */
  public static final long CHANGING_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How often a request goes on to another shard at once, before it pauses each time. */
  public static final int MOST_HOPS_AT_ONCE = 2;

  private final ClientContext context;
  private final ShardServers given;
  private final Map<String, ShardServers> known = new ConcurrentHashMap<>();
  private volatile ShardTable table = ShardTable.NONE;

  /** What waits for a table. Only the loop touches these. */
  private final List<Wait> waiting = new ArrayList<>();

  private Optional<TableRequest> asking = Optional.empty();
  private boolean closed;

  /** Somebody who goes on when more is known. */
  private record Wait(ShardServers from, WrongShard said, Runnable then) {}

  /** Makes those of a client, of which it knows none. */
  public Shards(ClientContext context) {
    this.context = context;
    this.given = new ShardServers(context.discovery(), Optional.empty());
  }

  /** Returns the servers that the client was given. */
  public ShardServers given() {
    return given;
  }

  /**
   * Returns whom to ask about some locks, as far as is known now. From any thread.
   *
   * @throws LockkeeperException if they are of several shards
   */
  ShardServers of(List<LockSpec> locks) {
    return table.isEmpty() ? given : ofNames(locks.stream().map(LockSpec::name).toList());
  }

  /**
   * Returns whom to ask about some names, as far as is known now. From any thread.
   *
   * @throws LockkeeperException if they are of several shards
   */
  public ShardServers ofNames(List<String> names) {
    ShardTable now = table;
    Optional<String> shard = Optional.empty();
    String first = "";
    for (String name : names) {
      Optional<String> its = now.shardOf(LockNames.namespace(name));
      if (shard.isEmpty()) {
        shard = its;
        first = name;
      } else if (its.isPresent() && !its.equals(shard)) {
        throw acrossShards(first, shard.get(), name, its.get());
      }
    }
    return shard.map(id -> servers(now, id)).orElse(given);
  }

  /**
   * Returns whom to ask about the locks below a prefix: those of other prefixes than below one
   * namespace are of the servers that the client was given. From any thread.
   */
  public ShardServers ofPrefix(String prefix) {
    return prefix.indexOf('/') > 0 ? ofNames(List.of(prefix)) : given;
  }

  private static LockkeeperException acrossShards(
      String one, String its, String other, String others) {
    return new RequestRefusedException(
        LockNames.quoted(one + ", " + other),
        Status.Code.FAILED_PRECONDITION,
        ErrorReason.ACROSS_SHARDS,
        "shard " + its + " serves the one, and shard " + others + " the other",
        "",
        Optional.empty());
  }

  private ShardServers servers(ShardTable from, String id) {
    ShardServers servers = known.get(id);
    if (servers != null) {
      return servers;
    }
    if (known.size() >= ShardTable.MOST_SHARDS) {
      throw new LockkeeperException(
          "this client has met 1,000 shards, and the next is " + id + ": build another client");
    }
    return known.computeIfAbsent(
        id,
        shard ->
            new ShardServers(context.discovery().of(from.addressesOf(shard)), Optional.of(shard)));
  }

  /**
   * Learns who serves a namespace, and then goes on, in a bounded time. On the loop.
   *
   * @param from who does not serve it
   * @param said what they say
   */
  public void learn(ShardServers from, WrongShard said, Runnable then) {
    if (closed || isKnown(from, said)) {
      takeHint(said);
      then.run();
    } else {
      waiting.add(new Wait(from, said, then));
      ask();
    }
  }

  /** Returns whether the table is as new as that of the server, and names another shard. */
  private boolean isKnown(ShardServers from, WrongShard said) {
    return table.version() > 0
        && table.version() >= said.getTableVersion()
        && table
            .shardOf(said.getNamespace())
            .filter(id -> !from.id().equals(Optional.of(id)))
            .isPresent();
  }

  /** Asks one shard at a time. */
  private void ask() {
    if (asking.isEmpty() && !waiting.isEmpty()) {
      ShardServers from = waiting.get(0).from();
      TableRequest request = new TableRequest(context, from, answer -> onAnswer(from, answer));
      asking = Optional.of(request);
      request.start();
    }
  }

  private void onAnswer(ShardServers from, Optional<GetShardsResponse> answer) {
    asking = Optional.empty();
    answer.ifPresent(response -> take(from, response));
    List<Wait> all = List.copyOf(waiting);
    waiting.clear();
    for (Wait each : all) {
      if (each.from() == from) {
        takeHint(each.said());
        each.then().run();
      } else {
        learn(each.from(), each.said(), each.then());
      }
    }
  }

  private synchronized void take(ShardServers from, GetShardsResponse answer) {
    ShardTable fresh;
    try {
      fresh = ShardTable.of(answer.getTable());
    } catch (IllegalArgumentException malformed) {
      LOG.atWarn()
          .addKeyValue("servers", from)
          .log("The table of shards is not taken: {}", malformed.getMessage());
      return;
    }
    if (from.id().isEmpty() && ShardTable.isId(answer.getSelf())) {
      from.becomeKnown(answer.getSelf());
      known.putIfAbsent(answer.getSelf(), from);
    }
    if (fresh.version() > table.version()) {
      LOG.atDebug().log("The table of shards has version {}", fresh.version());
      known.forEach((id, servers) -> readdress(servers, fresh.addressesOf(id)));
      table = fresh;
    }
  }

  /** Those that the client was given stay where they are. */
  private void readdress(ShardServers servers, List<Target> addresses) {
    if (servers != given && !addresses.isEmpty()) {
      servers.discovery().changeTo(addresses);
    }
  }

  /**
   * Goes by what a server has said of one namespace, unless the table is newer. Of the same version
   * it may say something else: it leaves out what the client had no right on when it asked.
   */
  private synchronized void takeHint(WrongShard said) {
    Optional<String> named = Optional.of(said.getShard().getId());
    if (said.getTableVersion() >= table.version()
        && !table.shardOf(said.getNamespace()).equals(named)) {
      table = table.with(said.getNamespace(), said.getShard());
    }
  }

  /** Learns nothing more: whoever waits for that goes on with what is known. On the loop. */
  public void close() {
    closed = true;
    asking.ifPresent(TableRequest::close);
    asking = Optional.empty();
    List<Wait> all = List.copyOf(waiting);
    waiting.clear();
    all.forEach(each -> each.then().run());
  }
}
