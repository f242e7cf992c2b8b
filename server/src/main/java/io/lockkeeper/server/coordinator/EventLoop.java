package io.lockkeeper.server.coordinator;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs everything that is posted to it one at a time and in order, and a turn hook after each
 * batch: on the thread that posts where nobody is at work, as {@link Baton} has it, and otherwise
 * on a thread of its own, which also sees to it that turns come when they are due.
 *
 * <p>It notices when it has done nothing for longer than {@link #STALL_NANOS}: the process was
 * paused, and whatever was sent to it meanwhile has not been read.
 */
final class EventLoop {

  /** A pause that is longer than this is a stall, in nanoseconds. */
  static final long STALL_NANOS = 500_000_000L;

  private static final Logger LOG = LoggerFactory.getLogger(EventLoop.class);
  private static final long IDLE_TURN_NANOS = 100_000_000L;
  private static final long BUSY_NANOS = 1_000_000L;

  private final Turns turns;
  private final LongSupplier clock;
  private final Thread thread;
  private final Baton baton;
  private final AtomicBoolean relieving = new AtomicBoolean();
  private final AtomicLong turnCount = new AtomicLong();
  private volatile boolean stopping;
  private volatile long wakeAtNanos;
  private volatile long nextTurnNanos;
  // Touched by whoever has the baton.
  private long markNanos;

  /** What is done around each batch, by whoever runs it. */
  interface Turns {
    /** The process did nothing for {@code nanos}; comes before anything else that is due. */
    void onStalled(long nanos);

    /** A batch is done. */
    void onTurn();

    /** Returns when {@link #onTurn} must be called next at the latest, on the loop's clock. */
    long nextTurnNanos();
  }

  EventLoop(Turns turns, LongSupplier clock) {
    this.turns = turns;
    this.clock = clock;
    this.thread = new Thread(this::attend, "lockkeeper-loop");
    this.baton = new Baton(new Batches(), this::relieve);
  }

  private final class Batches implements Baton.Runner {
    @Override
    public void run(Runnable task) {
      if (!stopping) {
        noticeStall();
        runSafely(task);
      }
    }

    @Override
    public void onTurn() {
      if (!stopping) {
        noticeStall();
        runSafely(turns::onTurn);
        noticeStall();
        turnCount.incrementAndGet();
        nextTurnNanos = turns.nextTurnNanos();
        // Its own thread looks before it parks; a permit would only let it run in circles.
        if (nextTurnNanos - wakeAtNanos < 0 && Thread.currentThread() != thread) {
          LockSupport.unpark(thread);
        }
      }
    }
  }

  void start() {
    thread.start();
  }

  boolean isAlive() {
    return thread.isAlive();
  }

  /** Adds a task, whatever the length of the queue, and may run it before it returns. */
  void post(Runnable task) {
    baton.pass(task);
  }

  /** Runs {@code posts}, which posts several tasks, and makes one turn of them if it can. */
  void together(Runnable posts) {
    baton.together(posts);
  }

  /** Returns how many tasks wait. */
  int backlog() {
    return baton.backlog();
  }

  /** Returns a number that rises while the loop is alive. */
  long turnCount() {
    return turnCount.get();
  }

  /** Ends the loop after what has been posted so far, and waits for that, bounded. */
  void stop(long waitMillis) throws InterruptedException {
    post(
        () -> {
          stopping = true;
          LockSupport.unpark(thread);
        });
    if (Thread.currentThread() != thread) {
      thread.join(waitMillis);
    }
  }

  private void attend() {
    markNanos = clock.getAsLong();
    nextTurnNanos = markNanos;
    baton.goOn();
    while (!stopping) {
      if (relieving.getAndSet(false)) {
        baton.goOn();
        continue;
      }
      awaitTurn();
      if (!baton.tryTurn()) {
        // Whoever is at work ends with a turn, and says when the next is due.
        LockSupport.parkNanos(this, BUSY_NANOS);
      }
    }
  }

  private void awaitTurn() {
    long now = clock.getAsLong();
    // Written before the next turn is read: whoever moves it forward after that sees the mark.
    wakeAtNanos = now + IDLE_TURN_NANOS;
    long wait = Math.min(IDLE_TURN_NANOS, nextTurnNanos - now);
    // Nobody need wake it for a turn that it wakes for by itself.
    wakeAtNanos = now + wait;
    if (wait > 0 && !relieving.get()) {
      LockSupport.parkNanos(this, wait);
    }
    if (Thread.interrupted()) {
      stopping = true;
    }
  }

  private void relieve() {
    relieving.set(true);
    LockSupport.unpark(thread);
  }

  /** Much work in small pieces is no stall; one gap between two looks at the clock is. */
  private void noticeStall() {
    long now = clock.getAsLong();
    long gap = now - markNanos;
    markNanos = now;
    if (gap > STALL_NANOS) {
      runSafely(() -> turns.onStalled(gap));
    }
  }

  /** Runs a task, or a part of one, so that the others do not suffer if it fails. */
  static void runSafely(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException e) {
      // One bad event must not end the service of all others. An Error may leave the state half
      // changed: nothing runs after it, and the watchdog ends the process.
      LOG.atError().setCause(e).log("an event could not be handled");
    }
  }
}
