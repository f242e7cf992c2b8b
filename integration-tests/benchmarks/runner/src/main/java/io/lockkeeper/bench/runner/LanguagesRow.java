package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Order.Shape;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The clients of each language, 64 tasks each with its own lock, beside what people in that
 * language take otherwise.
 */
final class LanguagesRow extends OwnRow {

  private static final int TASKS = 64;

  LanguagesRow() {
    super("languages-64");
  }

  /**
   * One load.
   *
   * @param label its name in the results
   * @param language whose client it is
   * @param system whose server it asks
   * @param library what the load is told to use
   */
  private record Contestant(String label, String language, Subject system, String library) {

    static Contestant ofLockkeeper(String language) {
      return new Contestant(language, language, Subject.LOCKKEEPER, "lockkeeper");
    }
  }

  /** Each of our clients, and the one beside which it stands. */
  private static final Map<Contestant, Contestant> PAIRS = new LinkedHashMap<>();

  static {
    PAIRS.put(
        Contestant.ofLockkeeper("python"),
        new Contestant("redis-py", "python", Subject.REDISSON, "redis"));
    PAIRS.put(Contestant.ofLockkeeper("go"), new Contestant("etcd-go", "go", Subject.ETCD, "etcd"));
    PAIRS.put(
        Contestant.ofLockkeeper("node"),
        new Contestant("node-redlock", "node", Subject.REDISSON, "redlock"));
  }

  @Override
  public void run(Settings settings, Stage stage, Results results)
      throws IOException, InterruptedException {
    Map<String, Scene> scenes = new LinkedHashMap<>();
    scenes.put("java", stage.scene(Subject.LOCKKEEPER));
    for (Map.Entry<Contestant, Contestant> pair : PAIRS.entrySet()) {
      start(pair.getKey(), stage, settings, scenes);
      start(pair.getValue(), stage, settings, scenes);
    }
    Order order = new Order(Shape.OWN, TASKS, settings.rampMillis(), settings.millis(), 0, 0);
    measureInTurn(scenes, order, settings, results);
    PAIRS.forEach(
        (ours, other) -> {
          if (scenes.containsKey(ours.label()) && scenes.containsKey(other.label())) {
            results.ratio(
                label() + "/" + other.label(),
                results.median(label(), ours.label()) / results.median(label(), other.label()));
          }
        });
  }

  private void start(
      Contestant contestant, Stage stage, Settings settings, Map<String, Scene> scenes)
      throws InterruptedException {
    try {
      Scene scene = stage.client(contestant.language(), contestant.system(), contestant.library());
      double unused = WarmUp.warm(scene, Shape.OWN, TASKS, settings);
      scenes.put(contestant.label(), scene);
    } catch (IOException e) {
      System.out.println("SKIPPED: " + label() + " without " + contestant.label() + ": " + e);
    }
  }
}
