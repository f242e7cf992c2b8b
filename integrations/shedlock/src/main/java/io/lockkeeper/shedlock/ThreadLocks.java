package io.lockkeeper.shedlock;

import java.util.Deque;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * The locks that one thread has taken and that nobody has unlocked, the innermost first. One that
 * is over stays: while its job runs, a lock around it is not that job's.
 */
final class ThreadLocks {

  /**
   * From how many locks on those that are over are tidied up: jobs are hardly ever nested deeper.
   */
  private static final int TIDY_FROM = 16;

  private static final ThreadLocal<ThreadLocks> CURRENT = ThreadLocal.withInitial(ThreadLocks::new);

  private final Thread thread = Thread.currentThread();

  /** Concurrent, because another thread may unlock what this one has taken. */
  private final Deque<HeldLock> locks = new ConcurrentLinkedDeque<>();

  private ThreadLocks() {}

  static ThreadLocks ofCurrentThread() {
    return CURRENT.get();
  }

  Thread thread() {
    return thread;
  }

  void add(HeldLock lock) {
    if (locks.size() >= TIDY_FROM) {
      forgetSomeThatAreOver();
    }
    locks.push(lock);
  }

  /**
   * Whoever never unlocks leaves it to lockAtMostFor: such locks must not pile up. Of neighbours
   * that are over, the outermost stands for all: the jobs of the others are refused on its account,
   * and must not be given what belongs to a lock further out.
   */
  private void forgetSomeThatAreOver() {
    boolean outerIsOver = false;
    for (Iterator<HeldLock> inwards = locks.descendingIterator(); inwards.hasNext(); ) {
      boolean isOver = inwards.next().isOver();
      if (isOver && outerIsOver) {
        inwards.remove();
      }
      outerIsOver = isOver;
    }
  }

  /** Removes a lock; those around it that are over interrupt the thread now, if they have not. */
  void remove(HeldLock lock) {
    locks.removeFirstOccurrence(lock);
    locks.forEach(HeldLock::interruptIfOver);
    forgetIfUnused();
  }

  Optional<HeldLock> innermost() {
    Optional<HeldLock> lock = Optional.ofNullable(locks.peek());
    forgetIfUnused();
    return lock;
  }

  private void forgetIfUnused() {
    if (locks.isEmpty() && Thread.currentThread() == thread) {
      CURRENT.remove();
    }
  }
}
