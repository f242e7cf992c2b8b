package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.state.CoreState;
import java.util.List;
import java.util.function.Function;

/**
 * Answers whoever looks at locks: with what they were at one moment, told when everybody in them
 * was read. Where one has gone before that, his lock is looked at again.
 */
public final class Looks {

  /** How often is looked at a lock that changes hands before its holder is read. */
  private static final int LOOKS = 5;

  /** For how long: a reading that is not answered takes its own time besides. */
  private static final long AGAIN_WITHIN_NANOS = 1_000_000_000L;

  /** How many entries are read for one look; the next look reads more. */
  private static final int MAX_READ = 2_000;

  private final CoreState core;
  private final Views views;
  private final EntryReads reads;
  private final Publications publications;

  public Looks(CoreState core, Views views, EntryReads reads, Publications publications) {
    this.core = core;
    this.views = views;
    this.reads = reads;
    this.publications = publications;
  }

  /** Shows locks once, and does not wait for long. */
  public void show(ClientEvent.ShowLocks event) {
    if (!core.mirror.isCurrent()) {
      core.fail(
          event.call(),
          Failure.Reason.UNAVAILABLE,
          CoreState.NO_CONTACT + ": its mirror of the queues is being rebuilt");
      return;
    }
    show(event, see(event.locks(), event.queueLimit()), LOOKS, core.now);
  }

  private void show(
      ClientEvent.ShowLocks event, List<Views.Seen> seen, int looks, long sinceNanos) {
    List<NodeKey> unnamed = unnamed(seen);
    if (unnamed.isEmpty() || looks == 0 || core.now - sinceNanos > AGAIN_WITHIN_NANOS) {
      core.reply(event.call(), answer(seen, views::showAll, core.mirror.revision()));
      return;
    }
    reads.read(
        unnamed.subList(0, Math.min(MAX_READ, unnamed.size())),
        () -> show(event, seen.stream().map(this::seeAgain).toList(), looks - 1, sinceNanos));
  }

  private Views.Seen seeAgain(Views.Seen seen) {
    return seen.unnamed().findAny().isPresent() ? views.see(seen.lock(), seen.queueLimit()) : seen;
  }

  /** Shows locks to a watch, in their turn among the changes. */
  public void watch(ClientEvent.WatchLocks event) {
    List<Views.Seen> seen = see(event.locks(), 0);
    long revision = core.mirror.revision();
    // Out of touch nothing can be read; the watch begins again when that is over.
    publications.inTurn(
        core.mirror.isCurrent() ? unnamed(seen) : List.of(),
        () -> core.reply(event.call(), answer(seen, views::showNamed, revision)),
        () -> core.reply(event.call(), answer(List.of(), views::showNamed, revision)));
  }

  private List<Views.Seen> see(List<LockName> locks, int queueLimit) {
    return locks.stream().map(lock -> views.see(lock, queueLimit)).toList();
  }

  private static List<NodeKey> unnamed(List<Views.Seen> seen) {
    return seen.stream().flatMap(Views.Seen::unnamed).toList();
  }

  private static Answer answer(
      List<Views.Seen> seen, Function<Views.Seen, LockView> shown, long revision) {
    return new Answer.LocksShown(seen.stream().map(shown).toList(), revision);
  }
}
