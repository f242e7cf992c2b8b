package io.lockkeeper.integration.failover;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockListener;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * One client of client-java under load: keeps one lock all the time, or takes and releases one over
 * and over. Notes when it has what it wants, and what it loses.
 */
public final class Inhabitant implements AutoCloseable {

  private static final long HOLD_MILLIS = 20;
  private static final long THINK_MILLIS = 150;

  private final Whereabouts whereabouts = new Whereabouts();
  private final String lock;
  private final boolean keeps;
  private final Rooms rooms;
  private final ScheduledExecutorService timer;
  private final LockkeeperClient client;
  private final List<Mark> marks = new ArrayList<>();
  private final List<String> losses = new ArrayList<>();
  private Told told = Told.NOTHING;
  private volatile boolean ending;

  /**
   * Something that shows that the client has what it wants.
   *
   * @param nanos when
   * @param pauseNanos how long it had to do without: until a lock was granted or released, or
   *     without a server
   * @param grant whether it is a new grant
   */
  record Mark(long nanos, long pauseNanos, boolean grant) {}

  Inhabitant(
      String addresses,
      Duration ttl,
      String lock,
      boolean keeps,
      Rooms rooms,
      ScheduledExecutorService timer) {
    this.lock = lock;
    this.keeps = keeps;
    this.rooms = rooms;
    this.timer = timer;
    this.client =
        LockkeeperClient.builder(addresses).ttl(ttl).channels(whereabouts::connect).build();
  }

  /** Begins. */
  void start() {
    ask();
  }

  private void ask() {
    if (ending) {
      return;
    }
    final long askedNanos = System.nanoTime();
    CompletableFuture<LockHandle> granted =
        client.acquire(LockRequest.of(lock).listener(new Ears(askedNanos)));
    var unused =
        granted.whenComplete(
            (handle, failure) -> {
              if (failure != null && !ending) {
                lost(lock + " not acquired: " + failure);
                later(THINK_MILLIS, this::ask);
              }
            });
  }

  private void later(long millis, Runnable next) {
    if (!ending) {
      var unused = timer.schedule(next, millis, TimeUnit.MILLISECONDS);
    }
  }

  private synchronized void mark(long pauseNanos, boolean grant) {
    marks.add(new Mark(System.nanoTime(), pauseNanos, grant));
  }

  private synchronized void hear(Told news) {
    told = told.plus(news);
  }

  private synchronized void lost(String what) {
    losses.add(what);
  }

  private void giveBack(LockHandle handle) {
    rooms.leave(lock, handle.fencingToken());
    final long startNanos = System.nanoTime();
    CompletableFuture<Void> released = handle.releaseAsync();
    var unused =
        released.whenComplete(
            (done, failure) -> {
              mark(System.nanoTime() - startNanos, false);
              later(ThreadLocalRandom.current().nextLong(2 * THINK_MILLIS), this::ask);
            });
  }

  /** Returns whether it keeps its lock all the time. */
  boolean keeps() {
    return keeps;
  }

  /** Returns its lock. */
  String lock() {
    return lock;
  }

  /** Returns whether others take its lock, too. */
  boolean shares() {
    return lock.contains("/shared/");
  }

  /** Returns what it was told. */
  synchronized Told told() {
    return told;
  }

  /** Returns the longest time between two grants, or from the last to now, that ended since. */
  synchronized long longestGapSince(long nanos) {
    long longest = 0;
    long before = System.nanoTime();
    for (int i = marks.size() - 1; i >= 0 && before - nanos > 0; i--) {
      if (marks.get(i).grant()) {
        longest = Math.max(longest, before - marks.get(i).nanos());
        before = marks.get(i).nanos();
      }
    }
    return longest;
  }

  /** Returns the coordinator that serves its session stream. */
  Optional<String> address() {
    return whereabouts.address();
  }

  /** Returns what it noted after a moment. */
  synchronized List<Mark> marksSince(long nanos) {
    return marks.stream().filter(mark -> mark.nanos() - nanos > 0).toList();
  }

  /** Returns what it lost or did not get. */
  synchronized List<String> losses() {
    return List.copyOf(losses);
  }

  /** Asks for nothing more, and notes no losses. */
  void end() {
    ending = true;
  }

  @Override
  public void close() {
    end();
    client.close();
  }

  /** Hears what happens to one request. */
  private final class Ears implements LockListener {

    private final long askedNanos;

    Ears(long askedNanos) {
      this.askedNanos = askedNanos;
    }

    @Override
    public void onGranted(LockHandle handle) {
      rooms.enter(lock, false, handle.fencingToken(), handle::isValid);
      mark(System.nanoTime() - askedNanos, true);
      if (!keeps) {
        later(HOLD_MILLIS, () -> giveBack(handle));
      }
    }

    @Override
    public void onJeopardy(LockHandle handle, Duration validFor) {
      hear(new Told(1, 0, 0));
    }

    @Override
    public void onSafe(LockHandle handle, Duration validFor) {
      hear(new Told(0, 1, 0));
    }

    @Override
    public void onResumed(LockHandle handle, Duration away) {
      mark(away.toNanos(), false);
    }

    @Override
    public void onLost(LockHandle handle, LossReason reason) {
      rooms.leave(lock, handle.fencingToken());
      hear(new Told(0, 0, 1));
      if (!ending) {
        lost(lock + " lost: " + reason);
        if (keeps) {
          later(THINK_MILLIS, Inhabitant.this::ask);
        }
      }
    }
  }
}
