package io.lockkeeper.integration.failover;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What was measured, as rows of a page; and whether a figure misses its floor. */
final class FloorTable {

  private final List<String> rows = new ArrayList<>();
  private String what = "";
  private boolean missed;

  /** Begins the rows of one fault. */
  void begin(String fault) {
    what = fault;
  }

  /** Adds a figure that must be so. */
  void exactly(String figure, long measured, long floor) {
    add(figure, Long.toString(measured), Long.toString(floor), measured == floor);
  }

  /** Adds a time that must be shorter. */
  void below(String figure, Duration measured, Duration floor) {
    boolean met = measured.compareTo(floor) < 0;
    add(figure, Floors.text(measured), "below " + floor.toSeconds() + " s", met);
  }

  /** Adds a figure without a floor. */
  void note(String figure, Object measured) {
    add(figure, measured.toString(), "", true);
  }

  private void add(String figure, String measured, String floor, boolean met) {
    missed |= !met;
    String verdict = met ? "" : " **missed**";
    rows.add("| " + what + " | " + figure + " | " + measured + " | " + floor + verdict + " |");
  }

  /** Returns whether a figure misses its floor. */
  boolean isMissed() {
    return missed;
  }

  @Override
  public String toString() {
    return "| Fault | Figure | Measured | Floor |\n|---|---|---|---|\n" + String.join("\n", rows);
  }
}
