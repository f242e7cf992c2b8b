package io.lockkeeper.client.internal.views;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LossReason;
import java.util.concurrent.CompletionStage;

/**
 * Interrupts a thread when a lock is lost that the thread's work needs, until that has ended. An
 * interrupt of its own does not outlive it.
 */
final class LossInterrupt {

  private final Thread worker;
  private boolean over;
  private boolean interrupted;

  private LossInterrupt(Thread worker) {
    this.worker = worker;
  }

  /** Interrupts the calling thread when {@code lock} is lost. */
  static LossInterrupt ofCurrentThread(LockHandle lock) {
    LossInterrupt interrupt = new LossInterrupt(Thread.currentThread());
    CompletionStage<LossReason> unused =
        lock.lost().whenComplete((reason, failure) -> interrupt.onLost());
    return interrupt;
  }

  private synchronized void onLost() {
    if (!over) {
      interrupted = true;
      worker.interrupt();
    }
  }

  /** The work has ended. For the thread itself. */
  synchronized void end() {
    over = true;
    if (interrupted) {
      boolean unused = Thread.interrupted();
    }
  }
}
