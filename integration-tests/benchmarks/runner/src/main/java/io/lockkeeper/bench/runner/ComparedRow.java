package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Order.Shape;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/** A row in which systems do the same work in turn. */
enum ComparedRow {
  OWN_1(Shape.OWN, 1),
  OWN_64(Shape.OWN, 64),
  OWN_256(Shape.OWN, 256),
  OWN_1024(Shape.OWN, 1024),
  HOT_64(Shape.HOT, 64);

  private final Shape shape;
  private final int clients;

  ComparedRow(Shape shape, int clients) {
    this.shape = shape;
    this.clients = clients;
  }

  /** Returns the name in tables, results and settings. */
  String label() {
    return (shape == Shape.OWN ? "own-" : "hot-") + clients;
  }

  /** Returns how many clients work. */
  int clients() {
    return clients;
  }

  /**
   * Returns whether systems are compared by how long one acquire takes, not by how many there are.
   */
  boolean isByLatency() {
    return clients == 1;
  }

  /** Returns whether a system is measured in this row. */
  boolean has(Subject subject) {
    return switch (subject) {
      case RAW_ASYNC, CURATOR, LOCKKEEPER, ETCD, REDISSON -> true;
      case RAW_MULTI -> clients > 1;
      case PING_PONG, REDISSON_FAIR -> shape == Shape.HOT;
    };
  }

  /** Returns the systems of a run that this row measures. */
  List<Subject> subjects(Settings settings) {
    return Arrays.stream(Subject.values())
        .filter(subject -> settings.subjects().contains(subject) && has(subject))
        .toList();
  }

  /** Measures all systems in turn, round by round. */
  void run(Settings settings, Stage stage, Results results)
      throws IOException, InterruptedException {
    List<Subject> subjects = subjects(settings);
    Order order = new Order(shape, clients, settings.rampMillis(), settings.millis(), 0, 0);
    for (List<Subject> round :
        Rounds.of(subjects, settings.rounds(), settings.seed() + label().hashCode())) {
      for (Subject subject : round) {
        results.add(label(), subject.label(), stage.scene(subject).measure(order));
      }
    }
  }
}
