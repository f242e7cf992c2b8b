package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.util.Set;

/** A row of the table: some work, and what is measured of it. */
interface Row {

  /** Returns the name in tables, results and settings. */
  String label();

  /** Returns the systems that are measured, of those that a run has. */
  Set<Subject> subjects(Set<Subject> available);

  /**
   * Returns whether it is about what is large rather than fast: then it runs if it is asked for.
   */
  default boolean isOfGrowth() {
    return false;
  }

  /** Does the work and adds what it measured. */
  void run(Settings settings, Stage stage, Results results)
      throws IOException, InterruptedException;
}
