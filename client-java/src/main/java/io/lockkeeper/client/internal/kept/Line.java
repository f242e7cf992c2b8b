package io.lockkeeper.client.internal.kept;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * What a client has and wants under the same terms. Of an exclusive lock only one request is at the
 * servers, besides what is held: the others wait here, so that their own entries do not make it
 * look as if somebody else wanted the lock. Guarded by {@link KeptLocks}.
 */
final class Line {

  final List<KeptHold> holds = new ArrayList<>(1);

  /** Who asks the server, if it is only one at a time. */
  Optional<Turn> asker = Optional.empty();

  /** Those who wait for what is held now, and was not wanted by others when they came. */
  final Deque<Turn> waiting = new ArrayDeque<>(1);

  /** Those who wait for what the asker will be granted. */
  final Deque<Turn> behind = new ArrayDeque<>(1);

  /** Returns what a request of {@code owner} may use now. */
  Optional<KeptHold> usableBy(String owner) {
    for (KeptHold hold : holds) {
      boolean usable = hold.users.isEmpty() ? !hold.wanted : hold.isSharedBy(owner);
      if (usable && hold.handle().isValid()) {
        return Optional.of(hold);
      }
    }
    return Optional.empty();
  }

  /** Has one more wait for others, of whom there is one; returns for how many. */
  int queue(Turn turn) {
    Deque<Turn> queue = isKept() ? waiting : behind;
    queue.add(turn);
    return queue.size();
  }

  /** Returns whether something is used that will be handed on. */
  boolean isKept() {
    for (KeptHold hold : holds) {
      if (!hold.wanted && hold.handle().isValid()) {
        return true;
      }
    }
    return false;
  }

  /** Has one wait no more; returns whether it did. */
  boolean remove(Turn turn) {
    return waiting.remove(turn) || behind.remove(turn);
  }

  /** The asker has been granted: those behind it wait for that now. */
  void granted(KeptHold hold) {
    asker = Optional.empty();
    holds.add(hold);
    waiting.addAll(behind);
    behind.clear();
  }

  /** What they waited for will not be handed on: they wait behind the asker, before the others. */
  void sendBehind() {
    while (!waiting.isEmpty()) {
      behind.addFirst(waiting.removeLast());
    }
  }

  /** Returns who is to ask the server next, if nobody does and somebody waits for that. */
  Optional<Turn> nextAsker() {
    if (asker.isPresent() || behind.isEmpty()) {
      return Optional.empty();
    }
    asker = Optional.of(behind.remove());
    return asker;
  }

  /** Returns the first who waits for what {@code owner} uses and is the same owner. */
  Optional<Turn> waitingOf(String owner) {
    return owner.isEmpty()
        ? Optional.empty()
        : waiting.stream().filter(turn -> turn.owner().equals(owner)).findFirst();
  }

  boolean isEmpty() {
    return holds.isEmpty() && asker.isEmpty() && waiting.isEmpty() && behind.isEmpty();
  }
}
