package io.lockkeeper.bench.runner;

import java.util.ArrayList;
import java.util.List;

/** All rows, in the order in which they run. */
final class Rows {

  private static final List<Row> ALL = new ArrayList<>(List.of(ComparedRow.values()));

  static {
    ALL.addAll(
        List.of(
            new NamesRow(),
            QueueRow.ofOneLock(),
            new WatchersRow(),
            new KeptRow(1),
            new KeptRow(256),
            new KeptAlternatingRow(),
            new LanguagesRow(),
            SecuredRow.ofTls(),
            SecuredRow.ofPolicy(),
            new HostileRow(),
            new CoordinatorsRow(),
            // The last that always run: what is left of it takes a while to go away.
            LeasesRow.ofFiftyThousand(),
            QueueRow.ofHundredLocks(),
            LeasesRow.ofHundredThousand(),
            new HeldRow()));
  }

  private Rows() {}

  /** Returns all rows. */
  static List<Row> all() {
    return List.copyOf(ALL);
  }

  /** Returns the names of those that run where none are asked for. */
  static List<String> usual() {
    return ALL.stream().filter(row -> !row.isOfGrowth()).map(Row::label).toList();
  }

  /** Returns the names of all rows. */
  static List<String> labels() {
    return ALL.stream().map(Row::label).toList();
  }
}
