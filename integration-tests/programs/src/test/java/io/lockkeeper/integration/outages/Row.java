package io.lockkeeper.integration.outages;

import java.util.List;
import java.util.Random;

/** One kind of outage: as many lines of the table as there are ways in which it is tried. */
interface Row {

  /** Returns the word by which it is asked for. */
  String name();

  /** Brings it about and measures what it costs; {@code random} decides when and to whom. */
  List<Line> run(Random random) throws Exception;
}
