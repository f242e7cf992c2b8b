package io.lockkeeper.conformance;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Plays scenarios, several at once, each with a client process and a limit of its own. A client
 * that fails is given one more chance, beside no other: the machine may have been too busy for its
 * short leases.
 */
final class Judge implements AutoCloseable {

  /** How long a scenario may take; those that wait for it end then. */
  private static final long LIMIT_SECONDS = 120;

  private final ExecutorService players;

  /** Shared by first chances; a second one has it alone. */
  private final ReadWriteLock stages = new ReentrantReadWriteLock(true);

  private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor();

  Judge(int atOnce) {
    players = Executors.newFixedThreadPool(atOnce);
  }

  /** What came of one scenario; {@code seen} is empty if it passed. */
  record Verdict(Scenario scenario, String seen, List<String> transcript) {
    boolean passed() {
      return seen.isEmpty();
    }
  }

  /** Begins to play a scenario with the client that the command starts, twice if it fails. */
  Future<Verdict> begin(String command, Scenario scenario) {
    return players.submit(
        () -> {
          Verdict first = play(command, scenario, stages.readLock());
          return first.passed() ? first : play(command, scenario, stages.writeLock());
        });
  }

  /** Begins to play a scenario that the client should fail, twice if it passes. */
  Future<Verdict> beginOfMistake(String command, Scenario scenario) {
    return players.submit(
        () -> {
          Verdict first = play(command, scenario, stages.readLock());
          return first.passed() ? play(command, scenario, stages.writeLock()) : first;
        });
  }

  static Verdict get(Future<Verdict> verdict) {
    try {
      return verdict.get();
    } catch (ExecutionException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private Verdict play(String command, Scenario scenario, Lock turn) {
    turn.lock();
    try {
      return play(command, scenario);
    } finally {
      turn.unlock();
    }
  }

  private Verdict play(String command, Scenario scenario) {
    Transcript transcript = new Transcript();
    String seen = "";
    try (Stage stage = new Stage(command, transcript)) {
      Future<?> limit = watch.schedule(stage::close, LIMIT_SECONDS, TimeUnit.SECONDS);
      scenario.play(stage);
      stage.mustHaveOneEndingEach();
      limit.cancel(false);
    } catch (RuntimeException e) {
      seen = e instanceof Unmet ? String.valueOf(e.getMessage()) : e.toString();
    }
    return new Verdict(scenario, seen, transcript.lines());
  }

  @Override
  public void close() {
    players.shutdownNow();
    watch.shutdownNow();
  }
}
