package io.lockkeeper.conformance;

import java.util.ArrayList;
import java.util.List;

/** What was said in one scenario, by whom and when: what a failure is understood by. */
final class Transcript {

  private static final int LONGEST_LINE = 300;

  private final long beganNanos = System.nanoTime();
  private final List<String> lines = new ArrayList<>();

  /** Adds a line. From any thread. */
  synchronized void add(String who, String what) {
    String oneLine = what.strip().replaceAll("\\s+", " ");
    String shown =
        oneLine.length() > LONGEST_LINE ? oneLine.substring(0, LONGEST_LINE) + "..." : oneLine;
    double seconds = (System.nanoTime() - beganNanos) / 1e9;
    lines.add(String.format("%7.3f %-9s %s", seconds, who, shown));
  }

  /** Returns all lines so far. */
  synchronized List<String> lines() {
    return List.copyOf(lines);
  }
}
