package io.lockkeeper.client.internal.views;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.internal.acquisition.PromptHandle;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletionStage;

/**
 * Interrupts a thread when a lock is lost that the thread's work needs, until that has ended. An
 * interrupt of its own does not outlive it, and one that is not its own does: of the caller, or of
 * another lock that is lost and that the thread works under as well.
 */
final class LossInterrupt {

  private static final ThreadLocal<Worker> CURRENT = ThreadLocal.withInitial(Worker::new);

  private final Worker worker;

  // Both are guarded by the worker.
  private boolean lost;
  private boolean fired;

  private LossInterrupt(Worker worker) {
    this.worker = worker;
  }

  /** Interrupts the calling thread when {@code lock} is lost. */
  static LossInterrupt ofCurrentThread(LockHandle lock) {
    LossInterrupt interrupt = new LossInterrupt(CURRENT.get());
    interrupt.worker.begin(interrupt);
    if (lock instanceof PromptHandle prompt) {
      prompt.onceLost(interrupt::onLost);
    } else {
      CompletionStage<LossReason> unused =
          lock.lost().whenComplete((reason, failure) -> interrupt.onLost());
    }
    return interrupt;
  }

  /** Runs {@code action}, and only after it what would have interrupted the calling thread. */
  static void holdBack(Runnable action) {
    Worker worker = CURRENT.get();
    worker.holdBack();
    try {
      action.run();
    } finally {
      worker.letGo();
    }
  }

  private void onLost() {
    worker.onLost(this);
  }

  /**
   * The work has ended. For the thread itself.
   *
   * @return whether the loss has interrupted the work
   */
  boolean end() {
    return worker.end(this);
  }

  /** A thread that works under locks, the innermost first. */
  private static final class Worker {
    private final Thread thread = Thread.currentThread();
    private final Deque<LossInterrupt> interrupts = new ArrayDeque<>(1);
    private int heldBack;

    synchronized void begin(LossInterrupt interrupt) {
      interrupts.push(interrupt);
    }

    synchronized void onLost(LossInterrupt interrupt) {
      interrupt.lost = true;
      if (heldBack == 0) {
        fire(interrupt);
      }
    }

    /**
     * If the thread is interrupted already, that is not the doing of this one: it is not undone.
     */
    private void fire(LossInterrupt interrupt) {
      if (interrupts.contains(interrupt) && !thread.isInterrupted()) {
        interrupt.fired = true;
        thread.interrupt();
      }
    }

    synchronized boolean end(LossInterrupt interrupt) {
      interrupts.remove(interrupt);
      if (interrupt.fired) {
        // Also where the task has ended with an InterruptedException: it may have been made from
        // the
        // flag, which is set then. The caller's own interrupt cannot be told from it.
        boolean unused = Thread.interrupted();
        // Of several locks that are lost, one has interrupted: now it is the next one's turn.
        interrupts.stream().filter(outer -> outer.lost).findFirst().ifPresent(this::fire);
      }
      forgetIfIdle();
      return interrupt.fired;
    }

    synchronized void holdBack() {
      heldBack++;
    }

    synchronized void letGo() {
      heldBack--;
      if (heldBack == 0) {
        interrupts.stream().filter(held -> held.lost && !held.fired).forEach(this::fire);
      }
      forgetIfIdle();
    }

    private void forgetIfIdle() {
      if (interrupts.isEmpty() && heldBack == 0) {
        CURRENT.remove();
      }
    }
  }
}
