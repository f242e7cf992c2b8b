package io.lockkeeper.client;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Names threads as owners. {@link Thread#getId} is given to another thread when one has ended, and
 * then that one would be granted what a dead thread holds: these names are never used again.
 */
final class ThreadOwners {

  private static final int MAX_NAME = 60;
  private static final AtomicLong NEXT = new AtomicLong();
  private static final ThreadLocal<String> OWNER = ThreadLocal.withInitial(ThreadOwners::name);

  private ThreadOwners() {}

  /** Returns the calling thread's name as an owner: always the same, and nobody else's. */
  static String ofCurrentThread() {
    return OWNER.get();
  }

  private static String name() {
    String thread = Thread.currentThread().getName();
    StringBuilder printable = new StringBuilder();
    thread
        .codePoints()
        .limit(MAX_NAME)
        .map(c -> c >= ' ' && c <= '~' ? c : '?')
        .forEach(printable::appendCodePoint);
    return "thread-" + NEXT.incrementAndGet() + " " + printable;
  }
}
