package io.lockkeeper.client.examples;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperSemaphore;

/** Some printers that all processes share. */
final class PrinterRoom {

  private final LockkeeperSemaphore printers;

  PrinterRoom(LockkeeperClient client, int printers) {
    this.printers = client.asSemaphore("printers", printers);
  }

  /** Takes as many printers as the job needs, all at once, and gives them back. */
  void print(int needed, Runnable job) throws InterruptedException {
    try (LockHandle taken = printers.acquirePermits(needed)) {
      taken.checkValid();
      job.run();
    }
  }
}
