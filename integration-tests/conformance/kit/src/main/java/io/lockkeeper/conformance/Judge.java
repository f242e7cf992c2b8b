package io.lockkeeper.conformance;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Plays scenarios, several at once, each with a client process and a limit of its own. */
final class Judge implements AutoCloseable {

  private static final long LIMIT_SECONDS = 90;

  private final ExecutorService players;
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

  /** Plays the scenarios with the client that the command starts; verdicts come in their order. */
  List<Verdict> judge(String command, List<Scenario> scenarios) {
    List<Future<Verdict>> verdicts =
        scenarios.stream().map(scenario -> begin(command, scenario)).toList();
    return verdicts.stream().map(Judge::get).toList();
  }

  /** Plays one scenario. */
  Future<Verdict> begin(String command, Scenario scenario) {
    return players.submit(() -> play(command, scenario));
  }

  static Verdict get(Future<Verdict> verdict) {
    try {
      return verdict.get();
    } catch (ExecutionException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private Verdict play(String command, Scenario scenario) {
    Transcript transcript = new Transcript();
    String seen = "";
    try (Stage stage = new Stage(command, transcript)) {
      Future<?> limit = watch.schedule(stage::close, LIMIT_SECONDS, TimeUnit.SECONDS);
      scenario.play(stage);
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
