package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Order.Shape;
import java.io.IOException;

/**
 * Lets the JVMs of a system compile what rows run, before anything counts.
 *
 * <p>A system is warm when for some windows it has not become faster by a twentieth and its
 * compilers had little to do; some need ten times as long as others, and to measure them earlier
 * would be to measure their compilers.
 */
final class WarmUp {

  /** How long JVMs that start for one row alone work before it counts. */
  static final long FRESH_MILLIS = 60_000;

  private static final int CLIENTS = 256;
  private static final int HOT_CLIENTS = 64;
  private static final long WINDOW_MILLIS = 2_000;
  private static final double FASTER = 1.05;
  private static final double COMPILING = 0.2; // Of one processor.
  private static final int PATIENT_WINDOWS = 3;
  private static final int LONGEST = 15;

  private WarmUp() {}

  /** Warms a system up: as long as the settings say at least, and 15 times that at most. */
  static void run(Scene scene, Settings settings, Table table) throws IOException {
    if (settings.warmUpSeconds() <= 0) {
      return;
    }
    table.print("warmed up %s in %.0f s", scene.system(), all(scene, settings));
  }

  /** Warms a system up for what most rows do. Returns how many seconds it took. */
  static double all(Scene scene, Settings settings) throws IOException {
    return warm(scene, Shape.OWN, CLIENTS, settings)
        + warm(scene, Shape.HOT, HOT_CLIENTS, settings);
  }

  /**
   * Warms a system up for one shape of work: half as long as the settings say at least, and 15
   * times that at most. Returns how many seconds it took.
   */
  static double warm(Scene scene, Shape shape, int clients, Settings settings) throws IOException {
    long leastMillis = Math.round(settings.warmUpSeconds() * 500);
    if (leastMillis <= 0) {
      return 0;
    }
    Order order = new Order(shape, clients, 0, WINDOW_MILLIS, 0, 0);
    double best = 0;
    int windowsSince = 0;
    long millis = 0;
    while (millis < leastMillis
        || (windowsSince < PATIENT_WINDOWS && millis < LONGEST * leastMillis)) {
      double compiled = scene.compilerSeconds();
      double now = scene.warmUp(order).cyclesPerSecond();
      double compiling = (scene.compilerSeconds() - compiled) * 1e3 / WINDOW_MILLIS;
      windowsSince = now > best * FASTER || compiling > COMPILING ? 0 : windowsSince + 1;
      best = Math.max(best, now);
      millis += WINDOW_MILLIS;
    }
    return millis / 1e3;
  }
}
