package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LockName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

/** One entry in the simulated ZooKeeper. */
final class SimNode {
  /** The order of a queue. */
  static final Comparator<SimNode> ORDER =
      Comparator.<SimNode>comparingInt(n -> n.name.sequence())
          .thenComparingLong(n -> n.czxid)
          .thenComparingInt(n -> n.index);

  final LockName lock;
  final EntryName name;
  final long czxid;
  final int index;
  final int ordinal;
  final Optional<FencingToken> kept;
  final SimSession owner;
  final Duration lockDelay;
  EntryDetails details;

  /** What it said of itself before, by the transaction that replaced that. */
  private final NavigableMap<Long, EntryDetails> replaced = new TreeMap<>();

  boolean exists = true;
  long goneZxid = Long.MAX_VALUE;
  Optional<SimZooKeeper.Cause> cause = Optional.empty();

  /** Who was granted it. */
  final List<SimHolds.Life> users = new ArrayList<>(1);

  SimNode(LockName lock, EntryName name, StoreEvent.ReadEntry data, SimSession owner) {
    this.lock = lock;
    this.name = name;
    this.czxid = data.czxid();
    this.index = data.index();
    this.ordinal = data.ordinal();
    this.kept = data.keptToken();
    this.details = data.details();
    this.owner = owner;
    this.lockDelay = details.terms().lockDelay();
  }

  boolean isOf(UUID id) {
    return name.id().filter(id::equals).isPresent();
  }

  /** Returns whether it was granted for a request, wherever that was. */
  boolean isUsedFor(SimRequest request) {
    return users.stream().anyMatch(user -> user.request().equals(request.id));
  }

  /** Says something else of itself from a transaction on. */
  void change(EntryDetails now, long zxid) {
    replaced.put(zxid, details);
    details = now;
  }

  StoreEvent.ReadEntry data() {
    return new StoreEvent.ReadEntry(details, czxid, index, ordinal, kept);
  }

  /** Returns its data as it was after a transaction. */
  StoreEvent.ReadEntry dataAsOf(long zxid) {
    Map.Entry<Long, EntryDetails> next = replaced.higherEntry(zxid);
    EntryDetails then = next == null ? details : next.getValue();
    return new StoreEvent.ReadEntry(then, czxid, index, ordinal, kept);
  }

  FencingToken token() {
    return data().token();
  }

  @Override
  public String toString() {
    return name.text() + users;
  }
}
