package io.lockkeeper.shedlock;

import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedDeque;

/** The locks that one thread has taken and that nobody has unlocked, the innermost first. */
final class ThreadLocks {

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
    // Whoever never unlocks leaves it to lockAtMostFor: such locks must not pile up.
    locks.removeIf(HeldLock::isOver);
    locks.push(lock);
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
