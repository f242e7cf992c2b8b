package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Order.Shape;
import io.lockkeeper.bench.load.Report;
import java.io.IOException;

/** Clients spread over three coordinators on an ensemble of three; all of it on this machine. */
final class CoordinatorsRow extends OwnRow {

  private static final int CLIENTS = 256;

  CoordinatorsRow() {
    super("coordinators-3");
  }

  @Override
  public void run(Settings settings, Stage stage, Results results)
      throws IOException, InterruptedException {
    try (Cluster cluster = stage.cluster()) {
      // As many connections to each coordinator, and about as many in all as elsewhere.
      Scene scene = cluster.startLoad(Math.max(1, settings.connections() / 2) * Cluster.SIZE);
      if (settings.warmUpSeconds() > 0) {
        Report unused = scene.warmUp(new Order(Shape.OWN, CLIENTS, 0, WarmUp.FRESH_MILLIS, 0, 0));
      }
      Order order = new Order(Shape.OWN, CLIENTS, settings.rampMillis(), settings.millis(), 0, 0);
      long before = cluster.events();
      double cycles = 0;
      for (int i = 0; i < settings.rounds(); i++) {
        Sample sample = scene.measure(order);
        results.add(label(), "three", sample);
        cycles += sample.cyclesPerSecond() * (settings.seconds() + settings.rampSeconds());
      }
      results.figure(
          label(),
          "events a coordinator must digest for a cycle (about)",
          (cluster.events() - before) / cycles / Cluster.SIZE);
      results.figure(
          label(),
          "events a coordinator must digest a second (about)",
          (cluster.events() - before)
              / (settings.rounds() * (settings.seconds() + settings.rampSeconds()))
              / Cluster.SIZE);
    }
  }
}
