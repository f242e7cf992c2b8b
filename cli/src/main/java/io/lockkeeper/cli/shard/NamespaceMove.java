package io.lockkeeper.cli.shard;

import io.lockkeeper.cli.call.LockPages;
import io.lockkeeper.cli.call.Me;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.DurationConverter;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.shard.Shard;
import io.lockkeeper.server.core.shard.ShardTable;
import io.lockkeeper.server.core.shard.ShardTable.Placed;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.ConfigureLockResponse;
import io.lockkeeper.v1.ConfiguredLimit;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.ForceReleaseResponse;
import io.lockkeeper.v1.Frozen;
import io.lockkeeper.v1.GetClusterRequest;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.ListNamespacesResponse;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.NamespaceEntries;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.RequestReleaseResponse;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Moves a namespace from one shard to another. The table in the lead's ensemble says how far that
 * is: while it says that the namespace moves, whoever runs this again goes on, or takes it back.
 *
 * <ol>
 *   <li>The table says that it moves. From when its shard knows, nobody new is granted anything
 *       there, so that what holds is among the entries that are there already.
 *   <li>Those are waited for, and at the end taken away.
 *   <li>The other shard gets the limits.
 *   <li>The table says that it has moved, with so many epochs added to tokens that they are above
 *       all that were granted before.
 * </ol>
 */
final class NamespaceMove {

  /** How long is waited for what was taken away, and for lock delays: the longest there is. */
  private static final Duration MOST_AFTER_FORCE = Duration.ofMinutes(1);

  private static final Duration MOST_DELAY = Duration.ofHours(1);

  /**
   * How long is waited, and what then.
   *
   * @param time how long holders have
   * @param force whether what they still hold is taken away then
   */
  record Patience(Duration time, boolean force) {}

  private final TableChanges changes;
  private final String namespace;
  private final PrintWriter err;

  NamespaceMove(TableChanges changes, String namespace, PrintWriter err) {
    this.changes = changes;
    this.namespace = namespace;
    this.err = err;
  }

  /** Begins, or goes on; returns the table in the end. */
  ShardTable run(String to, Patience patience) {
    ShardTable found = changes.lead();
    boolean begun = found.moves().containsKey(namespace);
    if (!begun) {
      // What would stop it is better known before.
      var unused = beginning(found, to);
      requireNoEntries(found.shard(to));
      requireNotFrozen(found.shard(place(found).shard()));
    }
    ShardTable table = begun ? found : changes.change(now -> beginning(now, to));
    String going = table.moves().getOrDefault(namespace, "");
    if (!going.equals(to)) {
      throw new CliException(
          ExitCodes.FAILED,
          named() + " is on its way to shard '" + going + "': finish that, or --undo");
    }
    err.println(named() + " moves from shard '" + place(table).shard() + "' to shard '" + to + "'");
    try {
      return carryOut(table, to, patience);
    } catch (CliException e) {
      throw new CliException(e.exitCode(), e.getMessage() + stateNow(), e);
    }
  }

  private Placed place(ShardTable table) {
    return table.place(namespace).orElseThrow();
  }

  private ShardTable beginning(ShardTable now, String to) {
    Placed from = place(now);
    if (!now.moves().containsKey(namespace) && from.shard().equals(to)) {
      throw new CliException(
          ExitCodes.FAILED, named() + " is served by shard '" + to + "' already");
    }
    if (now.moves().containsKey(namespace) || !now.joining().isEmpty()) {
      throw new CliException(
          ExitCodes.FAILED, "somebody else moves it, or has a shard join: finish that first");
    }
    shard(now, to);
    return new NextTable(now).moving(namespace, from, to).build();
  }

  /** Says where a move that has failed has left things. */
  private String stateNow() {
    try {
      return changes.lead().moves().containsKey(namespace)
          ? "\n" + named() + " is served by nobody until this is run again, or with --undo"
          : "";
    } catch (CliException e) {
      return "\n" + named() + " may be served by nobody until this is run again, or with --undo";
    }
  }

  private ShardTable carryOut(ShardTable table, String to, Patience patience) {
    Placed from = place(table);
    Shard source = table.shard(from.shard());
    Shard target = shard(table, to);
    // Whoever serves it must know; all others hear of it in the end.
    Copy closed = changes.bring(source, table);
    Copy open = changes.bring(target, table);
    empty(source, to, patience);
    requireNoEntries(target);
    requireMoving(changes.lead(), from, to);
    copyLimits(source, target);
    Placed arrived = new Placed(to, epochsAbove(closed, from.tokenEpochs(), open));
    return changes.change(
        now -> {
          requireMoving(now, from, to);
          return new NextTable(now).settled(namespace, arrived).build();
        });
  }

  /** What somebody else has undone, or finished, is not to be gone on with. */
  private void requireMoving(ShardTable now, Placed from, String to) {
    if (!to.equals(now.moves().get(namespace)) || !place(now).equals(from)) {
      throw new CliException(
          ExitCodes.FAILED, "somebody else has undone or finished the move of " + named());
    }
  }

  /** Takes back a move that is under way; returns the table in the end. */
  ShardTable undo() {
    return changes.change(
        now -> {
          if (!now.moves().containsKey(namespace)) {
            throw new CliException(ExitCodes.FAILED, named() + " is not on its way anywhere");
          }
          return new NextTable(now).settled(namespace, place(now)).build();
        });
  }

  private String named() {
    return "namespace '" + Text.plain(namespace) + "'";
  }

  static Shard shard(ShardTable table, String id) {
    if (!table.shards().containsKey(id)) {
      throw new CliException(
          ExitCodes.USAGE,
          "there is no shard '"
              + Text.plain(id)
              + "': there are "
              + String.join(", ", table.shards().keySet()));
    }
    return table.shard(id);
  }

  /**
   * Returns how many epochs to add at one shard, so that its tokens are above all that another has
   * granted before the transaction that wrote its copy.
   */
  static int epochsAbove(Copy before, int added, Copy after) {
    long epochs = Math.max(0, before.epoch() + added + 1 - after.epoch());
    if (epochs > FencingToken.MAX_ADDED_EPOCHS) {
      throw new CliException(
          ExitCodes.FAILED,
          "the tokens would need "
              + epochs
              + " epochs more than those of ZooKeeper, and there is room for "
              + FencingToken.MAX_ADDED_EPOCHS);
    }
    return (int) epochs;
  }

  private void requireNoEntries(Shard target) {
    int entries = entries(target).getEntries();
    if (entries > 0) {
      throw new CliException(
          ExitCodes.FAILED,
          "shard '"
              + target.id()
              + "' has "
              + entries(entries)
              + " of "
              + named()
              + ": somebody who does not know of shards waits there");
    }
  }

  /** A freeze would stay behind. */
  private void requireNotFrozen(Shard source) {
    String whole = namespace + "/";
    for (Frozen frozen :
        changes
            .ensembles
            .of(source)
            .admin(stub -> stub.getCluster(GetClusterRequest.getDefaultInstance()))
            .getFrozenList()) {
      if (whole.startsWith(frozen.getPrefix()) || frozen.getPrefix().startsWith(whole)) {
        throw new CliException(
            ExitCodes.FAILED,
            "\""
                + Text.plain(frozen.getPrefix())
                + "\" is frozen at shard '"
                + source.id()
                + "', and a freeze does not move: unfreeze it first");
      }
    }
  }

  private NamespaceEntries entries(Shard shard) {
    return changes.ensembles.namespaces(shard.addresses(), namespace).getNamespaces(0);
  }

  /** Waits until nothing is left of the namespace; at last takes away what is. */
  private void empty(Shard source, String to, Patience patience) {
    final long startNanos = System.nanoTime();
    if (entries(source).getEntries() > 0) {
      askToGiveWay(source, patience);
    }
    int left = waitFor(source, to, startNanos, patience);
    if (left > 0 && patience.force()) {
      err.println(entries(left) + " left: what is held is taken away");
      forceAll(source);
      left = waitFor(source, to, System.nanoTime(), new Patience(MOST_AFTER_FORCE, true));
    }
    if (left > 0) {
      changes.bring(source, undo());
      throw new CliException(
          ExitCodes.FAILED,
          entries(left)
              + " of "
              + named()
              + " left after "
              + Text.age(patience.time())
              + ": the move is undone"
              + (patience.force() ? "" : " (--force takes away what is held)"));
    }
  }

  /** Returns what is left after a time; what is forced waits for lock delays that run longer. */
  private int waitFor(Shard source, String to, long startNanos, Patience patience) {
    int said = -1;
    for (; ; ) {
      NamespaceEntries left = entries(source);
      long passed = System.nanoTime() - startNanos;
      boolean delays = left.getEntries() == left.getDelays();
      if (left.getEntries() == 0 || isOver(passed, delays, patience)) {
        return left.getEntries();
      }
      if (left.getEntries() != said) {
        said = left.getEntries();
        err.println(
            entries(said)
                + (delays ? " of lock delays" : "")
                + " left at shard '"
                + source.id()
                + "'");
        err.flush();
      }
      TableChanges.pause();
      ShardTable now = changes.lead();
      requireMoving(now, place(now), to);
    }
  }

  private static boolean isOver(long nanos, boolean delays, Patience patience) {
    return nanos >= (delays && patience.force() ? MOST_DELAY : patience.time()).toNanos();
  }

  private static String entries(int count) {
    return count + (count == 1 ? " entry" : " entries");
  }

  private List<LockState> held(Servers servers) {
    List<LockState> locks = new ArrayList<>(LockPages.all(servers, namespace + "/"));
    GetLockRequest itself = GetLockRequest.newBuilder().setName(namespace).build();
    locks.add(servers.call(stub -> stub.getLock(itself)).getLock());
    locks.removeIf(lock -> lock.getHoldersCount() == 0);
    return locks;
  }

  private void askToGiveWay(Shard source, Patience patience) {
    Servers servers = changes.ensembles.of(source);
    for (LockState lock : held(servers)) {
      RequestReleaseRequest.Builder ask =
          RequestReleaseRequest.newBuilder()
              .setName(lock.getName())
              .setReason(reason())
              .setRequester(Me.atHost());
      if (patience.force()) {
        ask.setDeadline(DurationConverter.toMessage(patience.time()));
      }
      RequestReleaseResponse unused = servers.call(stub -> stub.requestRelease(ask.build()));
    }
  }

  private void forceAll(Shard source) {
    Servers servers = changes.ensembles.of(source);
    for (LockState lock : held(servers)) {
      ForceReleaseRequest force =
          ForceReleaseRequest.newBuilder().setName(lock.getName()).setReason(reason()).build();
      ForceReleaseResponse unused = servers.admin(stub -> stub.forceRelease(force));
    }
  }

  private String reason() {
    return named() + " moves to another shard";
  }

  /** Makes the limits at one shard those of another, before the first request comes. */
  private void copyLimits(Shard source, Shard target) {
    Map<String, Integer> wanted = limits(source);
    Map<String, Integer> there = limits(target);
    Servers servers = changes.ensembles.of(target);
    Map<String, Integer> differing = new TreeMap<>();
    there.keySet().forEach(name -> differing.put(name, wanted.getOrDefault(name, 0)));
    differing.putAll(wanted);
    differing.entrySet().removeIf(limit -> limit.getValue().equals(there.get(limit.getKey())));
    differing.forEach((name, limit) -> setLimit(servers, name, limit));
  }

  private static void setLimit(Servers servers, String name, int limit) {
    ConfigureLockRequest request =
        ConfigureLockRequest.newBuilder().setName(name).setLimit(limit).build();
    ConfigureLockResponse unused = servers.call(stub -> stub.configureLock(request));
  }

  private Map<String, Integer> limits(Shard shard) {
    ListNamespacesResponse listed = changes.ensembles.namespaces(shard.addresses(), namespace);
    if (listed.getTruncated()) {
      throw new CliException(
          ExitCodes.FAILED, named() + " has more limits than can be listed: it cannot move");
    }
    Map<String, Integer> limits = new TreeMap<>();
    for (ConfiguredLimit limit : listed.getLimitsList()) {
      limits.put(limit.getName(), limit.getLimit());
    }
    return limits;
  }
}
