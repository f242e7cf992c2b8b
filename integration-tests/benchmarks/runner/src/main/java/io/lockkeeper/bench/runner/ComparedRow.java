package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Order.Shape;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** A row in which systems do the same work in turn. */
enum ComparedRow implements Row {
  OWN_1(Shape.OWN, 1),
  OWN_64(Shape.OWN, 64),
  OWN_256(Shape.OWN, 256),
  OWN_1024(Shape.OWN, 1024),
  HOT_64(Shape.HOT, 64),
  REENTRANT_64(Shape.REENTRY, 64),
  REENTRANT_1(Shape.REENTRY, 1);

  private final Shape shape;
  private final int clients;

  ComparedRow(Shape shape, int clients) {
    this.shape = shape;
    this.clients = clients;
  }

  @Override
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
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
      case CURATOR, LOCKKEEPER, REDISSON -> true;
      // What is no lock has no reentry, and etcd's lock has no levels.
      case RAW_ASYNC, ETCD -> shape != Shape.REENTRY;
      case RAW_MULTI -> shape != Shape.REENTRY && clients > 1;
      case MIRRORED_MULTI -> this == OWN_256 || this == OWN_1024;
      case REDISSON_NOFSYNC -> this == OWN_256;
      case PING_PONG, REDISSON_FAIR -> shape == Shape.HOT;
    };
  }

  @Override
  public Set<Subject> subjects(Set<Subject> available) {
    return available.stream().filter(this::has).collect(Collectors.toCollection(TreeSet::new));
  }

  /** Measures all systems in turn, round by round. */
  @Override
  public void run(Settings settings, Stage stage, Results results)
      throws IOException, InterruptedException {
    List<Subject> subjects = List.copyOf(subjects(settings.subjects()));
    Order order = new Order(shape, clients, settings.rampMillis(), settings.millis(), 0, 0);
    if (shape == Shape.REENTRY) {
      // Nobody acquires what it holds in the general warm-up.
      for (Subject subject : subjects) {
        double unused = WarmUp.warm(stage.scene(subject), shape, clients, settings);
      }
    }
    for (List<Subject> round :
        Rounds.of(subjects, settings.rounds(), settings.seed() + label().hashCode())) {
      for (Subject subject : round) {
        results.add(label(), subject.label(), stage.scene(subject).measure(order));
      }
    }
  }
}
