package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Order;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A row that measures Lockkeeper only. */
abstract class OwnRow implements Row {

  private final String label;
  private final boolean ofGrowth;

  OwnRow(String label) {
    this(label, false);
  }

  OwnRow(String label, boolean ofGrowth) {
    this.label = label;
    this.ofGrowth = ofGrowth;
  }

  @Override
  public final boolean isOfGrowth() {
    return ofGrowth;
  }

  @Override
  public final String label() {
    return label;
  }

  /** Has every scene do the same work in turn, round by round. */
  final void measureInTurn(
      Map<String, Scene> scenes, Order order, Settings settings, Results results)
      throws IOException {
    for (List<Map.Entry<String, Scene>> round :
        Rounds.of(List.copyOf(scenes.entrySet()), settings.rounds(), settings.seed())) {
      for (Map.Entry<String, Scene> one : round) {
        results.add(label, one.getKey(), one.getValue().measure(order));
      }
    }
  }

  @Override
  public final Set<Subject> subjects(Set<Subject> available) {
    Set<Subject> own = EnumSet.of(Subject.LOCKKEEPER);
    own.retainAll(available);
    return own;
  }
}
