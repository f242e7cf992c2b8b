package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.ShardEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.queue.LockQueue;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.CoreState;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;

/** Follows the table of shards, and changes it. */
public final class Sharding {

  /** How soon is looked again at waits that could not be ended. */
  private static final long AGAIN_NANOS = Duration.ofSeconds(1).toNanos();

  /** How many namespaces, and how many limits, are listed. */
  private static final int MAX_LISTED = 10_000;

  private final CoreState core;
  private final Shards shards;
  private final Barriers barriers;
  private final Grants grants;
  private final AcquisitionLifecycle lifecycle;
  private final Map<Long, CallId> underWay = new HashMap<>();
  private long changes;
  private boolean looksAgain;

  public Sharding(
      CoreState core,
      Shards shards,
      Barriers barriers,
      Grants grants,
      AcquisitionLifecycle lifecycle) {
    this.core = core;
    this.shards = shards;
    this.barriers = barriers;
    this.grants = grants;
    this.lifecycle = lifecycle;
  }

  /** Replaces the table, if it has the version that is expected. */
  public void set(ClientEvent.SetShards event) {
    Optional<String> problem = shards.problem(event.record());
    if (!core.mirror.isCurrent()) {
      core.fail(event.call(), Failure.Reason.UNAVAILABLE, CoreState.NO_CONTACT);
    } else if (problem.isPresent()) {
      core.fail(event.call(), Failure.Reason.SHARDS_CHANGED, problem.get());
    } else {
      underWay.put(++changes, event.call());
      core.emit(new StoreEffect.SetShards(changes, event.expectedVersion(), event.record()));
    }
  }

  /** A change was made, or was not. */
  public void onAnswered(ShardEvent.Answered event) {
    CallId call = underWay.remove(event.number());
    if (call == null) {
      return;
    }
    switch (event.outcome()) {
      // After a barrier this coordinator, too, decides by it.
      case DONE -> barriers.pass(passed -> core.reply(call, new Answer.ShardsSet(event.zxid())));
      case CHANGED ->
          core.fail(
              call,
              Failure.Reason.SHARDS_CHANGED,
              "the table of shards has another version: somebody has changed it");
      case FAILED ->
          core.fail(
              call,
              Failure.Reason.UNAVAILABLE,
              "ZooKeeper did not confirm it: it may be done, read the table");
    }
  }

  /** The table is another one from here on. */
  public void onChanged() {
    shards.changed();
  }

  /** It is known what the table says. One that has gone, or is older than it was, is put back. */
  public void onRead(ShardEvent.Read event) {
    shards
        .read(event)
        .ifPresent(
            there ->
                core.emit(
                    new StoreEffect.SetShards(
                        ++changes, there.table().version(), shards.inForce())));
    // Outside of this, the rebuild decides.
    if (core.mirror.isCurrent()) {
      decide();
    }
  }

  /** The mirror is whole again, or a session was adopted: what waits may have to go. */
  public void look() {
    if (shards.inForce().isSplit()) {
      endWaits();
    }
  }

  /** Decides anew whatever could not be decided while nobody knew what the table says. */
  private void decide() {
    List<LockName> locks = core.mirror.all().stream().map(LockQueue::lock).toList();
    locks.stream().filter(lock -> !shards.isClosed(lock)).forEach(grants::onThawed);
    List.copyOf(core.acquisitions.values()).forEach(lifecycle::tellContention);
    look();
  }

  /** Ends the waits for what this shard does not grant any more, as far as they may be ended. */
  private void endWaits() {
    boolean left = false;
    for (Acquisition acquisition : List.copyOf(core.acquisitions.values())) {
      if (acquisition.state().isWaiting()) {
        left |= shards.ending(acquisition).map(why -> end(acquisition, why)).orElse(false);
      }
    }
    if (left && !looksAgain) {
      looksAgain = true;
      core.timers.at(
          core.now + AGAIN_NANOS,
          () -> {
            looksAgain = false;
            look();
          });
    }
  }

  /** Returns whether it still waits. */
  private boolean end(Acquisition acquisition, String why) {
    lifecycle.expireWait(acquisition, Notice.RefusalReason.NAMESPACE_MOVED, why, () -> {});
    return acquisition.state().isWaiting();
  }

  /** Says what is left of namespaces, by a mirror that has seen everything committed before. */
  public void list(ClientEvent.ListNamespaces event) {
    barriers.pass(
        passed -> {
          if (passed) {
            core.reply(event.call(), listed(event.namespace()));
          } else {
            core.fail(
                event.call(),
                Failure.Reason.UNAVAILABLE,
                "no answer from ZooKeeper's quorum: nobody knows what is left");
          }
        });
  }

  private Answer listed(Optional<String> only) {
    NavigableMap<String, Integer> entries = new TreeMap<>();
    NavigableMap<LockName, Integer> limits = new TreeMap<>();
    NavigableMap<String, Integer> delays = new TreeMap<>();
    only.ifPresent(namespace -> entries.put(namespace, 0));
    core.mirror.all().forEach(queue -> count(entries, only, queue.lock(), queue.size()));
    for (LockName lock : core.mirror.marked()) {
      // One whose entry is gone keeps the next one out for as long as its holder wanted.
      boolean alone = core.mirror.queue(lock).isEmpty();
      int guards = alone ? core.mirror.guards(lock).size() : 0;
      count(entries, only, lock, guards);
      count(delays, only, lock, guards);
      OptionalInt limit = core.mirror.limit(lock);
      if (limit.isPresent() && only.isEmpty()) {
        entries.putIfAbsent(lock.namespace(), 0);
      } else if (limit.isPresent() && only.get().equals(lock.namespace())) {
        limits.put(lock, limit.getAsInt());
      }
    }
    boolean truncated = limits.size() > MAX_LISTED || entries.size() > MAX_LISTED;
    return new Answer.NamespacesListed(first(entries), delays, first(limits), truncated);
  }

  private static void count(
      NavigableMap<String, Integer> entries, Optional<String> only, LockName lock, int found) {
    String namespace = lock.namespace();
    if (found > 0 && (only.isEmpty() || only.get().equals(namespace))) {
      entries.merge(namespace, found, Integer::sum);
    }
  }

  private static <T> NavigableMap<T, Integer> first(NavigableMap<T, Integer> found) {
    while (found.size() > MAX_LISTED) {
      found.remove(found.lastKey());
    }
    return found;
  }
}
