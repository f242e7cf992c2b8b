package io.lockkeeper.client.internal.views;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Names threads as owners. These names are never used again, unlike {@link Thread#getId}: with
 * that, a new thread would be granted what a thread that has ended still holds.
 */
public final class ThreadOwners {

  private static final int MAX_NAME = 60;
  private static final AtomicLong NEXT = new AtomicLong();
  private static final ThreadLocal<String> OWNER = ThreadLocal.withInitial(ThreadOwners::name);

  private ThreadOwners() {}

  /** Returns the calling thread's name as an owner: always the same, and unique. */
  public static String ofCurrentThread() {
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
