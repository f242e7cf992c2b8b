package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.CoordinatorObserver;
import io.lockkeeper.server.coordinator.api.LockHistory;
import io.lockkeeper.server.coordinator.api.PastHold;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.Occurrence;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LockName;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongSupplier;

/**
 * Remembers who held which lock and how each hold ended: the newest of each lock, and so many in
 * all; beyond that the lock is forgotten whose last hold ended longest ago. On the event loop only.
 */
final class HoldHistory implements CoordinatorObserver {

  static final int MAX_IN_ALL = 10_000;
  static final int MAX_METADATA_BYTES = 1_024;

  private final LongSupplier nanoClock;
  // In the order of their last ends.
  private final Map<LockName, Holds> byLock = new LinkedHashMap<>();
  private int size;
  // Since when nothing of any lock was forgotten for want of room.
  private long sinceNanos;

  /**
   * Makes one that remembers nothing.
   *
   * @param nanoClock the coordinator's clock
   */
  HoldHistory(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    this.sinceNanos = nanoClock.getAsLong();
  }

  /** Those of one lock. */
  private static final class Holds {

    final Deque<Past> newestFirst = new ArrayDeque<>(1);
    // Since when nothing of this lock was forgotten for want of room.
    long sinceNanos;

    /**
     * Begins with none.
     *
     * @param sinceNanos when the newest hold had ended of those that the lock may have had before
     */
    Holds(long sinceNanos) {
      this.sinceNanos = sinceNanos;
    }
  }

  private record Past(
      Occurrence.EndedHold hold,
      String requestId,
      String owner,
      AcquireCommand.WantedLock lock,
      FencingToken token,
      Optional<Long> heldNanos,
      HoldEnd end,
      long atNanos) {

    PastHold asOf(long nowNanos) {
      Contender holder =
          new Contender(
              hold.lease().tag(),
              requestId,
              owner,
              hold.holder(),
              lock.mode(),
              hold.metadata(),
              hold.waitedNanos().orElse(0) + heldNanos.orElse(0L),
              heldNanos,
              Optional.of(token),
              Optional.empty(),
              "",
              heldNanos.isEmpty());
      return new PastHold(holder, nowNanos - atNanos, end);
    }
  }

  @Override
  public void onOccurrence(Occurrence occurrence) {
    occurrence.ended().ifPresent(hold -> add(occurrence, hold));
  }

  @Override
  public void onStalled(long nanos) {}

  private void add(Occurrence occurrence, Occurrence.EndedHold ended) {
    Occurrence.EndedHold kept = bounded(ended);
    OptionalLong held = occurrence.heldNanos();
    for (int i = 0; i < kept.tokens().size(); i++) {
      AcquireCommand.WantedLock lock = occurrence.command().locks().get(i);
      add(
          new Past(
              kept,
              occurrence.command().requestId(),
              occurrence.command().owner(),
              lock,
              kept.tokens().get(i),
              held.isPresent() ? Optional.of(held.getAsLong()) : Optional.empty(),
              occurrence.end(),
              nanoClock.getAsLong()));
    }
    while (size > MAX_IN_ALL) {
      forgetOne();
    }
  }

  private void add(Past past) {
    LockName lock = past.lock().name();
    Holds holds = Optional.ofNullable(byLock.remove(lock)).orElseGet(() -> new Holds(sinceNanos));
    holds.newestFirst.addFirst(past);
    size++;
    if (holds.newestFirst.size() > LockHistory.MAX_HOLDS) {
      // Nobody misses it: no answer has more.
      holds.newestFirst.removeLast();
      size--;
    }
    byLock.put(lock, holds);
  }

  private static Occurrence.EndedHold bounded(Occurrence.EndedHold hold) {
    return bytesOf(hold.metadata()) <= MAX_METADATA_BYTES
        ? hold
        : new Occurrence.EndedHold(
            hold.lease(), hold.holder(), Map.of(), hold.tokens(), hold.waitedNanos());
  }

  private void forgetOne() {
    Iterator<Holds> oldest = byLock.values().iterator();
    Holds holds = oldest.next();
    holds.sinceNanos = holds.newestFirst.removeLast().atNanos();
    sinceNanos = later(sinceNanos, holds.sinceNanos);
    size--;
    if (holds.newestFirst.isEmpty()) {
      oldest.remove();
    }
  }

  private static long later(long oneNanos, long otherNanos) {
    return oneNanos - otherNanos > 0 ? oneNanos : otherNanos;
  }

  private static int bytesOf(Map<String, String> metadata) {
    int bytes = 0;
    for (Map.Entry<String, String> entry : metadata.entrySet()) {
      bytes += entry.getKey().getBytes(StandardCharsets.UTF_8).length;
      bytes += entry.getValue().getBytes(StandardCharsets.UTF_8).length;
    }
    return bytes;
  }

  /** Returns the newest holds of a lock that have ended. */
  LockHistory of(LockName lock, int limit) {
    long now = nanoClock.getAsLong();
    Holds known = Optional.ofNullable(byLock.get(lock)).orElseGet(() -> new Holds(sinceNanos));
    List<PastHold> holds = new ArrayList<>();
    for (Past past : known.newestFirst) {
      if (holds.size() == limit) {
        break;
      }
      holds.add(past.asOf(now));
    }
    return new LockHistory(holds, now - known.sinceNanos);
  }
}
