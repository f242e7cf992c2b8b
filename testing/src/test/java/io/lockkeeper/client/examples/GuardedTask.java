package io.lockkeeper.client.examples;

import java.util.concurrent.locks.Lock;

/** Code that knows the JDK's lock only. */
final class GuardedTask {

  private final Lock lock;
  private final Runnable task;

  GuardedTask(Lock lock, Runnable task) {
    this.lock = lock;
    this.task = task;
  }

  void run(int times) {
    for (int i = 0; i < times; i++) {
      lock.lock();
      try {
        task.run();
      } finally {
        lock.unlock();
      }
    }
  }
}
