package io.lockkeeper.client.testing;

import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.PreviousEnd;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** The queue of one lock, and its admission rule: first come, first served. */
final class FakeQueue {

  final String lock;
  final List<FakeEntry> entries = new ArrayList<>();
  PreviousEnd previousEnd = PreviousEnd.PREVIOUS_END_UNSPECIFIED;

  /** What ConfigureLock has set; zero: nothing. */
  int configuredLimit;

  private boolean delayed;
  private long delayEndsAtNanos;

  FakeQueue(String lock) {
    this.lock = lock;
  }

  /** Returns the limit of permits in force: as configured, or named by who came first; or zero. */
  int limit() {
    return configuredLimit == 0 && !entries.isEmpty()
        ? entries.get(0).wanted.getLimit()
        : configuredLimit;
  }

  /** Returns whether the lock is in use as another kind than {@code mode} is of. */
  boolean isOfAnotherKindThan(LockMode mode) {
    boolean inUse = configuredLimit != 0 || !entries.isEmpty();
    return inUse && !kind().equals(kind(mode));
  }

  /** Names the kind of lock that the queue is in use as. */
  String kind() {
    return kind(entries.isEmpty() ? LockMode.LOCK_MODE_PERMITS : entries.get(0).mode());
  }

  static String kind(LockMode mode) {
    return switch (mode) {
      case LOCK_MODE_EXCLUSIVE -> "MUTEX";
      case LOCK_MODE_READ, LOCK_MODE_WRITE -> "READ_WRITE";
      case LOCK_MODE_PERMITS -> "PERMITS";
      case LOCK_MODE_CUSTOM, LOCK_MODE_UNSPECIFIED, UNRECOGNIZED -> "CUSTOM";
    };
  }

  /**
   * Admits whom the rule lets in.
   *
   * @return the entries that hold now and did not before
   */
  List<FakeEntry> admit(long nowNanos) {
    List<FakeEntry> ahead = new ArrayList<>();
    List<FakeEntry> admitted = new ArrayList<>();
    for (FakeEntry entry : entries) {
      if (!entry.held) {
        if (isDelayed(nowNanos) || !admits(ahead, entry)) {
          break;
        }
        entry.hold(nowNanos);
        entry.previousEnd = previousEnd;
        admitted.add(entry);
      }
      ahead.add(entry);
    }
    return admitted;
  }

  /** Returns whether {@code entry} may hold together with all those {@code ahead} of it. */
  boolean admits(Collection<FakeEntry> ahead, FakeEntry entry) {
    return switch (entry.mode()) {
      case LOCK_MODE_READ -> ahead.stream().allMatch(e -> e.mode() == LockMode.LOCK_MODE_READ);
      case LOCK_MODE_PERMITS -> {
        long taken = ahead.stream().mapToLong(e -> e.wanted.getPermits()).sum();
        yield taken + entry.wanted.getPermits() <= limitFor(ahead, entry);
      }
      case LOCK_MODE_EXCLUSIVE,
          LOCK_MODE_WRITE,
          LOCK_MODE_CUSTOM,
          LOCK_MODE_UNSPECIFIED,
          UNRECOGNIZED ->
          ahead.isEmpty();
    };
  }

  private int limitFor(Collection<FakeEntry> ahead, FakeEntry entry) {
    int named = entry.wanted.getLimit();
    return configuredLimit == 0
        ? ahead.stream().mapToInt(e -> e.wanted.getLimit()).reduce(named, Math::min)
        : configuredLimit;
  }

  /** Admits nobody for a time, unless it is to be longer already. */
  void delay(long nowNanos, long delayNanos) {
    long end = nowNanos + delayNanos;
    if (!isDelayed(nowNanos) || end - delayEndsAtNanos > 0) {
      delayed = true;
      delayEndsAtNanos = end;
    }
  }

  private boolean isDelayed(long nowNanos) {
    return delayed && delayEndsAtNanos - nowNanos > 0;
  }

  /** Returns what an owner of a lease, not empty, has been granted. */
  List<FakeEntry> heldBy(FakeLease lease, String owner) {
    return entries.stream().filter(e -> e.isHeldBy(lease, owner)).toList();
  }

  /** Returns where the next entry goes that is placed beside {@code held}. */
  int endOfPlace(FakeEntry held) {
    int end = entries.indexOf(held) + 1;
    while (end < entries.size() && entries.get(end).isBeside(held)) {
      end++;
    }
    return end;
  }

  List<FakeEntry> holders() {
    return entries.stream().filter(e -> e.held).toList();
  }

  List<FakeEntry> waiters() {
    return entries.stream().filter(e -> !e.held).toList();
  }

  /** Returns the lock with up to {@code queueLimit} of those who wait. */
  LockState view(int queueLimit, long nowNanos, long revision) {
    List<FakeEntry> waiters = waiters();
    LockState.Builder view =
        LockState.newBuilder()
            .setName(lock)
            .addAllHolders(contenders(holders(), Integer.MAX_VALUE, nowNanos))
            .setQueueLength(waiters.size())
            .addAllQueue(contenders(waiters, queueLimit, nowNanos))
            .setRevision(revision)
            .setConfiguredLimit(configuredLimit);
    if (isDelayed(nowNanos)) {
      view.setDelayedFor(FakeTime.toProto(delayEndsAtNanos - nowNanos));
    }
    return view.build();
  }

  static List<Contender> contenders(List<FakeEntry> entries, int limit, long nowNanos) {
    return entries.stream().limit(limit).map(e -> e.toContender(nowNanos)).toList();
  }
}
