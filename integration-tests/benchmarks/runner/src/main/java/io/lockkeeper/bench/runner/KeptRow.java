package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Order.Shape;
import java.io.IOException;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Clients that return to their own locks, and keep them meanwhile. */
final class KeptRow implements Row {

  private static final String KEPT = "kept";

  private final int clients;

  KeptRow(int clients) {
    this.clients = clients;
  }

  @Override
  public String label() {
    return KEPT + "-" + clients;
  }

  @Override
  public Set<Subject> subjects(Set<Subject> available) {
    Set<Subject> compared = EnumSet.of(Subject.LOCKKEEPER, Subject.REDISSON);
    compared.retainAll(available);
    return compared;
  }

  @Override
  public void run(Settings settings, Stage stage, Results results)
      throws IOException, InterruptedException {
    Map<String, Scene> scenes = new LinkedHashMap<>();
    for (Subject subject : subjects(settings.subjects())) {
      scenes.put(subject.label(), stage.scene(subject));
    }
    scenes.put(KEPT, stage.kept());
    Order order = new Order(Shape.OWN, clients, settings.rampMillis(), settings.millis(), 0, 0);
    for (List<Map.Entry<String, Scene>> round :
        Rounds.of(List.copyOf(scenes.entrySet()), settings.rounds(), settings.seed())) {
      for (Map.Entry<String, Scene> one : round) {
        results.add(label(), one.getKey(), one.getValue().measure(order));
      }
    }
    results.ratio(label() + "/acquire-micros", results.acquireMicros(label(), KEPT));
    scenes.keySet().stream()
        .filter(other -> !other.equals(KEPT))
        .forEach(
            other ->
                results.ratio(
                    label() + "/" + other,
                    results.median(label(), KEPT) / results.median(label(), other)));
  }
}
