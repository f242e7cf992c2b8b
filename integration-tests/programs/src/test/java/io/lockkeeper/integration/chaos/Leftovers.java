package io.lockkeeper.integration.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Looks for what is left in ZooKeeper when all clients have gone. */
final class Leftovers {

  private static final long POLL_MILLIS = 500;

  private Leftovers() {}

  /** Waits until nothing is left, for a bounded time; then writes down what is. */
  static void record(Root root, History history, long settlingSeconds) throws InterruptedException {
    long begin = System.nanoTime();
    List<String> left = look(root);
    while (!left.isEmpty()
        && System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(settlingSeconds)) {
      pause();
      left = look(root);
    }
    left.forEach(what -> history.line("leftover").with("what", what).write());
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
    history.line("settled").with("millis", millis).with("left", left.size()).write();
  }

  private static void pause() throws InterruptedException {
    if (new CountDownLatch(1).await(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
      throw new IllegalStateException("nobody opens this latch");
    }
  }

  private static List<String> look(Root root) throws InterruptedException {
    try {
      List<String> left = new ArrayList<>(root.entries());
      left.addAll(root.leases());
      List<String> members = root.members();
      root.claims()
          .forEach(
              (session, owner) -> {
                if (!members.contains(owner)) {
                  left.add("claim of session " + session + " by " + owner + ", which is gone");
                }
              });
      return left;
    } catch (Root.Unreadable e) {
      return List.of("ZooKeeper cannot be read: " + e);
    }
  }
}
