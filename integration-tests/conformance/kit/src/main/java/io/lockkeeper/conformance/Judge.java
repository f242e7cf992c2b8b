package io.lockkeeper.conformance;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Plays scenarios, several at once, each with a client process and a limit of its own. */
final class Judge implements AutoCloseable {

  /** How long a scenario may take; those that wait for it end then. */
  private static final long LIMIT_SECONDS = 120;

  private final ExecutorService players;
  private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor();

  Judge(int atOnce) {
    players = Executors.newFixedThreadPool(atOnce);
  }

  /** A scenario with the client that the command starts, and whether it is expected to pass. */
  record Play(String command, Scenario scenario, boolean passes) {
    static Play ofClient(String command, Scenario scenario) {
      return new Play(command, scenario, true);
    }

    static Play ofMistake(String command, Scenario scenario) {
      return new Play(command, scenario, false);
    }
  }

  /**
   * What came of one scenario; {@code seen} is empty if it passed, {@code leftOut} if it was
   * played.
   */
  record Verdict(Scenario scenario, String seen, String leftOut, List<String> transcript) {
    boolean passed() {
      return seen.isEmpty();
    }
  }

  /**
   * Plays all. What does not end as expected is played once more, alone, when all others have
   * ended: the machine may have been too busy for its short leases.
   */
  Map<Play, Verdict> judge(Collection<Play> plays) {
    Map<Play, Future<Verdict>> begun = new LinkedHashMap<>();
    plays.forEach(play -> begun.put(play, players.submit(() -> play(play))));
    Map<Play, Verdict> verdicts = new LinkedHashMap<>();
    begun.forEach((play, verdict) -> verdicts.put(play, get(verdict)));
    verdicts.replaceAll(
        (play, verdict) -> verdict.passed() == play.passes() ? verdict : play(play));
    return verdicts;
  }

  private static Verdict get(Future<Verdict> verdict) {
    try {
      return verdict.get();
    } catch (ExecutionException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private Verdict play(Play play) {
    Transcript transcript = new Transcript();
    String seen = "";
    String leftOut = "";
    try (Stage stage = new Stage(play.command(), transcript)) {
      Future<?> limit = watch.schedule(stage::close, LIMIT_SECONDS, TimeUnit.SECONDS);
      play.scenario().play(stage);
      stage.mustHaveOneEndingEach();
      limit.cancel(false);
    } catch (LeftOut e) {
      leftOut = String.valueOf(e.getMessage());
    } catch (RuntimeException e) {
      seen = e instanceof Unmet ? String.valueOf(e.getMessage()) : e.toString();
    }
    return new Verdict(play.scenario(), seen, leftOut, transcript.lines());
  }

  @Override
  public void close() {
    players.shutdownNow();
    watch.shutdownNow();
  }
}
