package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Order.Shape;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * The namespace split over two ensembles, each with all that it needs on one processor of its own:
 * one shard at work alone, then both at once.
 */
final class ShardsRow extends OwnRow {

  private static final int CLIENTS = 256;
  private static final String ONE = "one";
  private static final String TWO = "two";

  ShardsRow() {
    super("shards-2");
  }

  @Override
  public void run(Settings settings, Stage stage, Results results)
      throws IOException, InterruptedException {
    if (Runtime.getRuntime().availableProcessors() < 2 || Neighbours.find("taskset").isEmpty()) {
      System.out.println("SKIPPED: shards-2 needs two processors and the program taskset");
      return;
    }
    try (Shard first = stage.shard(0);
        Shard second = stage.shard(1)) {
      if (settings.warmUpSeconds() > 0) {
        Order warmUp = new Order(Shape.OWN, CLIENTS, 0, WarmUp.FRESH_MILLIS, 0, 0);
        Sample unused = both(first, second, warmUp);
      }
      Order order = new Order(Shape.OWN, CLIENTS, settings.rampMillis(), settings.millis(), 0, 0);
      for (int i = 0; i < settings.rounds(); i++) {
        results.add(label(), ONE, (i % 2 == 0 ? first : second).scene().measure(order));
        results.add(label(), TWO, both(first, second, order));
      }
    }
    results.ratio(label() + "/one", results.median(label(), TWO) / results.median(label(), ONE));
  }

  /** Has both work at once; the sample says what they did together. */
  private static Sample both(Shard first, Shard second, Order order)
      throws IOException, InterruptedException {
    CompletableFuture<Sample> other =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return second.scene().measure(order);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    Sample mine = first.scene().measure(order);
    try {
      return mine.withCycles(mine.cyclesPerSecond() + other.get().cyclesPerSecond());
    } catch (ExecutionException e) {
      throw new IOException(e);
    }
  }
}
