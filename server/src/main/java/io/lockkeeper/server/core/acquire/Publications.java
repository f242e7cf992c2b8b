package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.Contender;
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
 * first, and what comes after it waits too. What is gone before it could be read is told as several
 * changes in one, by the state after them.
 */
public final class Publications {

  private static final int MAX_WAITING = 10_000;
  private static final int SEVERAL = 2;

  private final CoreState core;
  private final Views views;
  private final EntryReads reads;
  private final Deque<Waiting> waiting = new ArrayDeque<>();

  public Publications(CoreState core, Views views, EntryReads reads) {
    this.core = core;
    this.views = views;
    this.reads = reads;
  }

  /** A change as it was when it happened. */
  private static final class Waiting {
    private final long revision;
    private final LockName lock;
    private final LockChange.Cause cause;
    private final Optional<Entry> contender;
    private final boolean held;
    private final List<Entry> holders;
    private final int queueLength;
    private boolean read;

    Waiting(
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
      this.holders = queue.map(q -> List.copyOf(q.holders())).orElse(List.of());
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
    if (!core.describesChanges && waiting.isEmpty()) {
      core.emit(new Effect.Publish(LockChange.undescribed(core.mirror.revision(), lock)));
      return;
    }
    Waiting change =
        new Waiting(core.mirror.revision(), lock, cause, entry, core.mirror.queue(lock));
    waiting.add(change);
    List<NodeKey> unnamed = waiting.size() > MAX_WAITING ? List.of() : change.unnamed();
    reads.read(
        unnamed,
        () -> {
          change.read = true;
          proceed();
        });
  }

  /** Changes may be missing: those that wait are among them. */
  public void gap(String reason) {
    waiting.clear();
    core.emit(new Effect.PublishGap(reason));
  }

  private void proceed() {
    while (!waiting.isEmpty() && waiting.peek().read) {
      core.emit(new Effect.Publish(described(waiting.remove())));
    }
  }

  private LockChange described(Waiting change) {
    List<Contender> holders =
        change.holders.stream()
            .filter(entry -> Views.isNamed(entry, true))
            .map(entry -> views.contender(entry, true))
            .toList();
    boolean named = change.unnamed().isEmpty();
    return new LockChange(
        change.revision,
        change.lock,
        named ? change.cause : LockChange.Cause.SEVERAL,
        change.contender.filter(entry -> named).map(entry -> views.contender(entry, change.held)),
        holders,
        change.queueLength,
        named ? 1 : SEVERAL);
  }
}
