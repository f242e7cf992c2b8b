package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Order.Shape;
import io.lockkeeper.bench.load.Report;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What clients lose to a hostile one beside them.
 *
 * <p>The hostile client shares their processors, which it would not elsewhere. So it is compared
 * with a process that takes as much of the processors and asks for nothing.
 */
final class HostileRow extends OwnRow {

  /** What the hostile client can do; see {@code HostileLoad}. */
  static final List<String> ATTACKS =
      List.of("locks", "tries", "cancels", "leases", "lists", "garbage");

  private static final int CLIENTS = 64;
  private static final String ALONE = "alone";
  private static final String IDLE = "-idle";
  private static final String HOSTILE = "load-hostile";
  private static final int SETTLING_SECONDS = 120;

  HostileRow() {
    super("hostile");
  }

  @Override
  public void run(Settings settings, Stage stage, Results results)
      throws IOException, InterruptedException {
    if (Secured.isSkipped(label())) {
      return;
    }
    Scene scene = stage.certified();
    try (TalkingJvm hostile = stage.secured().hostile()) {
      Run run = new Run(settings, stage, scene.with(hostile.child()), hostile, results);
      run.calibrate();
      run.measure();
    }
    conclude(settings.attacks(), results);
  }

  /** One run of the row. */
  private final class Run {
    private final Settings settings;
    private final Stage stage;
    private final Scene scene;
    private final TalkingJvm hostile;
    private final Results results;
    private final Order order;
    private final long nodesBefore;

    /** Cores that an attack has taken when it was seen last. */
    private final Map<String, Double> cores = new HashMap<>();

    Run(Settings settings, Stage stage, Scene scene, TalkingJvm hostile, Results results)
        throws IOException, InterruptedException {
      this.settings = settings;
      this.stage = stage;
      this.scene = scene;
      this.hostile = hostile;
      this.results = results;
      this.order = new Order(Shape.OWN, CLIENTS, settings.rampMillis(), settings.millis(), 0, 0);
      Report unused = scene.warmUp(order); // The locks' nodes stay, and count as there before.
      this.nodesBefore = stage.zookeeper().nodes();
    }

    /**
     * Lets everybody compile what an attack needs, sees how much it takes, and warms up once more:
     * much of what was compiled for honest clients alone is thrown away meanwhile. Limited attacks
     * are too slow for the compilers, so that calls are made without a limit first.
     */
    void calibrate() throws IOException, InterruptedException {
      hostile.ask("rehearse leases");
      warmUp();
      hostile.ask("rehearsed");
      settle();
      for (String attack : settings.attacks()) {
        Sample unused = under(attack);
      }
      warmUp();
    }

    private void warmUp() throws IOException {
      double unusedSeconds = WarmUp.warm(scene, Shape.OWN, CLIENTS, settings);
    }

    /** An attack and what it is compared with stand side by side, now one first, now the other. */
    void measure() throws IOException, InterruptedException {
      List<String> all = Stream.concat(Stream.of(ALONE), settings.attacks().stream()).toList();
      boolean attackFirst = true;
      for (List<String> round : Rounds.of(all, settings.rounds(), settings.seed())) {
        for (String what : round) {
          for (String one : pair(what, attackFirst)) {
            results.add(label(), one, sample(one));
          }
        }
        attackFirst = !attackFirst;
      }
    }

    private static List<String> pair(String what, boolean attackFirst) {
      if (what.equals(ALONE)) {
        return List.of(ALONE);
      }
      return attackFirst ? List.of(what, what + IDLE) : List.of(what + IDLE, what);
    }

    private Sample sample(String what) throws IOException, InterruptedException {
      if (what.equals(ALONE)) {
        return scene.measure(order);
      }
      if (!what.endsWith(IDLE)) {
        return under(what);
      }
      hostile.ask("burn " + cores.get(what.substring(0, what.length() - IDLE.length())));
      Sample sample = scene.measure(order);
      hostile.ask("end");
      return sample;
    }

    private Sample under(String attack) throws IOException, InterruptedException {
      long before = hostile.ask("begin " + attack).get("answers").asLong();
      long startNanos = System.nanoTime();
      Sample sample = scene.measure(order);
      double seconds = (System.nanoTime() - startNanos) / 1e9;
      double taken = coresOf(sample);
      cores.put(attack, taken);
      long answers = hostile.ask("end").get("answers").asLong() - before;
      results.figure(label(), "cores of the hostile client, " + attack, taken);
      results.figure(label(), "its answers a second, " + attack, answers / seconds);
      settle();
      return sample;
    }

    /** Waits until nothing is left of an attack that others would have to pay for. */
    private void settle() throws IOException, InterruptedException {
      for (int i = 0; i < SETTLING_SECONDS; i++) {
        if (stage.zookeeper().nodes() <= nodesBefore
            && stage.secured().coordinator().metric("lockkeeper_watches") == 0) {
          return;
        }
        Pause.millis(1_000);
      }
      throw new IOException("an attack has left nodes behind: " + stage.zookeeper().nodes());
    }
  }

  private static double coresOf(Sample sample) {
    double perThousand = Optional.ofNullable(sample.cpuPerThousand().get(HOSTILE)).orElseThrow();
    return perThousand * sample.cyclesPerSecond() / 1e3;
  }

  private void conclude(List<String> attacks, Results results) {
    double throughput = 1;
    double latency = 1;
    for (String attack : attacks) {
      double kept = results.median(label(), attack) / results.median(label(), attack + IDLE);
      double slowed = p50(attack, results) / p50(attack + IDLE, results);
      throughput = Math.min(throughput, kept);
      latency = Math.max(latency, slowed);
      results.figure(
          label(),
          "throughput through alone, " + attack,
          results.median(label(), attack) / results.median(label(), ALONE));
      results.figure(label(), "median latency through idle, " + attack, slowed);
      results.ratio(label() + "/" + attack, kept);
    }
    results.ratio(label() + "/throughput", throughput);
    results.ratio(label() + "/latency", latency);
  }

  private double p50(String system, Results results) {
    return Optional.ofNullable(results.summaries(label()).get(system))
        .orElseThrow()
        .p50Micros()
        .median();
  }
}
