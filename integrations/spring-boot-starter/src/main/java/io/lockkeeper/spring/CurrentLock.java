package io.lockkeeper.spring;

import io.lockkeeper.client.LockHandle;
import java.util.ArrayDeque;
import java.util.Deque;

/** The lock under which the calling thread runs: that of the innermost {@link Locked} method. */
public final class CurrentLock {

  private static final ThreadLocal<Deque<LockHandle>> HELD =
      ThreadLocal.withInitial(ArrayDeque::new);

  private CurrentLock() {}

  /**
   * Returns the lock.
   *
   * @throws IllegalStateException if this thread runs no {@link Locked} method; another thread's
   *     are not its own
   */
  public static LockHandle handle() {
    LockHandle innermost = HELD.get().peek();
    if (innermost == null) {
      HELD.remove();
      throw new IllegalStateException(
          "thread " + Thread.currentThread().getName() + " runs no @Locked method");
    }
    return innermost;
  }

  /**
   * Returns the lock's fencing token, for whatever the method changes: see {@link
   * LockHandle#fencingToken}. Errors are those of {@link #handle}.
   */
  public static long fencingToken() {
    return handle().fencingToken();
  }

  static void enter(LockHandle handle) {
    HELD.get().push(handle);
  }

  static void leave() {
    Deque<LockHandle> held = HELD.get();
    held.pop();
    if (held.isEmpty()) {
      HELD.remove();
    }
  }
}
