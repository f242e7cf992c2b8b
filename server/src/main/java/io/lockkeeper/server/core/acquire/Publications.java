package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.LockChange;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.queue.LockQueue;
import io.lockkeeper.server.core.state.CoreState;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Tells the watchers what happens to locks: in order, and each change once everybody in it can be
 * named. Of an entry of another coordinator the mirror shows no more than the name, so it is read
 * first, for as long as that takes: whoever was left out would seem to hold nothing. What is gone
 * before it could be read is told as several changes in one, by the state after them.
 *
 * <p>What comes after a change that waits waits too, whatever its lock: watchers resume from the
 * last revision that they saw, and must have missed nothing before, of all their locks. That costs
 * little. An entry is read over the connection that tells of it, so that a reading is late only
 * where everything is, and its end is the end of that connection: then watchers begin again.
 */
public final class Publications {

  /** How many changes and snapshots may wait; where more would, watchers begin again. */
  private static final int MAX_WAITING = 10_000;

  private static final int SEVERAL = 2;

  private final CoreState core;
  private final WatchedLocks watched;
  private final Views views;
  private final EntryReads reads;
  private final Deque<Turn> waiting = new ArrayDeque<>();

  public Publications(CoreState core, WatchedLocks watched, Views views, EntryReads reads) {
    this.core = core;
    this.watched = watched;
    this.views = views;
    this.reads = reads;
  }

  /** Something that is told when everything before it was, and everybody in it was read. */
  private static final class Turn {
    private final Runnable tell;
    private final Runnable drop;
    private boolean due;

    Turn(Runnable tell, Runnable drop) {
      this.tell = tell;
      this.drop = drop;
    }
  }

  /** A change as it was when it happened. */
  private static final class Happened {
    private final long revision;
    private final LockName lock;
    private final LockChange.Cause cause;
    private final Optional<Entry> contender;
    private final boolean held;
    private final List<Entry> holders;
    private final int queueLength;

    Happened(
        long revision,
        LockName lock,
        LockChange.Cause cause,
        Optional<Entry> contender,
        Optional<LockQueue> queue) {
      this.revision = revision;
      this.lock = lock;
      this.cause = cause;
      this.contender = contender;
      this.held = contender.filter(Entry::holds).isPresent();
      this.holders = queue.map(Views::firstHolders).orElse(List.of());
      this.queueLength = queue.map(LockQueue::waiting).orElse(0);
    }

    List<NodeKey> unnamed() {
      return Stream.concat(
              holders.stream().filter(entry -> !Views.isNamed(entry, true)),
              contender.stream().filter(entry -> !Views.isNamed(entry, held)))
          .map(entry -> new NodeKey(lock, entry.name().text()))
          .distinct()
          .toList();
    }
  }

  /** A lock has changed; {@code entry} is whom it happened to. */
  public void publish(LockName lock, LockChange.Cause cause, Optional<Entry> entry) {
    long revision = core.mirror.revision();
    if (watched.contains(lock)) {
      Happened change = new Happened(revision, lock, cause, entry, core.mirror.queue(lock));
      inTurn(change.unnamed(), () -> core.emit(new Effect.Publish(described(change))), () -> {});
    } else {
      Effect.Publish undescribed = new Effect.Publish(LockChange.undescribed(revision, lock));
      inTurn(List.of(), () -> core.emit(undescribed), () -> {});
    }
  }

  /**
   * Reads entries and then tells something, after all that was to be told before.
   *
   * @param drop what to do if it is not told, after the gap that takes its place
   */
  void inTurn(List<NodeKey> entries, Runnable tell, Runnable drop) {
    if (waiting.isEmpty() && entries.isEmpty()) {
      tell.run();
      return;
    }
    Turn turn = new Turn(tell, drop);
    waiting.add(turn);
    if (waiting.size() > MAX_WAITING) {
      gap("more than " + MAX_WAITING + " changes came before it was known who holds");
      return;
    }
    reads.readToTheEnd(
        entries,
        () -> {
          turn.due = true;
          proceed();
        });
  }

  /** Changes may be missing: those that wait are among them. */
  public void gap(String reason) {
    List<Turn> dropped = List.copyOf(waiting);
    waiting.clear();
    core.emit(new Effect.PublishGap(reason));
    dropped.forEach(turn -> turn.drop.run());
  }

  private void proceed() {
    while (!waiting.isEmpty() && waiting.peek().due) {
      waiting.remove().tell.run();
    }
  }

  private LockChange described(Happened change) {
    boolean named = change.unnamed().isEmpty();
    return new LockChange(
        change.revision,
        change.lock,
        named ? change.cause : LockChange.Cause.SEVERAL,
        change.contender.filter(entry -> named).map(entry -> views.contender(entry, change.held)),
        views.holders(change.holders),
        change.queueLength,
        named ? 1 : SEVERAL);
  }
}
