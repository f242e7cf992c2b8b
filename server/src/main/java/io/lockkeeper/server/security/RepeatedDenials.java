package io.lockkeeper.server.security;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * Keeps a flood of denials, or of release requests, from filling the disk, and what matters from
 * being pushed out by it. Of those that have the action, the identity and the result in common the
 * first are let through, the others within ten seconds of the first are counted. Where there are
 * very many different ones they are counted together.
 */
final class RepeatedDenials {

  /** How many that are alike are let through in a window. */
  static final int SHOWN = 20;

  static final Duration WINDOW = Duration.ofSeconds(10);
  static final int MAX_KINDS = 1_000;

  private static final Kind OTHERS =
      new Kind("any", Identity.of("any"), "any"); // more kinds than are told apart

  private final Map<Kind, Window> windows = new HashMap<>();

  /** What denials that are alike have in common. */
  private record Kind(String action, Identity identity, String result) {}

  private static final class Window {
    private final long startNanos;
    private long seen;

    Window(long startNanos) {
      this.startNanos = startNanos;
    }
  }

  /** Returns whether a denial is to be written; otherwise it is counted. */
  synchronized boolean admits(Audit.Entry denial, long nowNanos) {
    Kind kind = new Kind(denial.action(), denial.identity(), denial.result());
    if (windows.size() >= MAX_KINDS && !windows.containsKey(kind)) {
      kind = OTHERS;
    }
    Window window = windows.computeIfAbsent(kind, k -> new Window(nowNanos));
    return ++window.seen <= SHOWN;
  }

  /** Returns, once, what was counted in the windows that are over. */
  synchronized List<Audit.Entry> countedUntil(long nowNanos) {
    List<Audit.Entry> counted = new ArrayList<>();
    Iterator<Map.Entry<Kind, Window>> each = windows.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry<Kind, Window> entry = each.next();
      if (nowNanos - entry.getValue().startNanos >= WINDOW.toNanos()) {
        each.remove();
        add(entry, counted);
      }
    }
    return counted;
  }

  /** Returns, once, what was counted so far. */
  synchronized List<Audit.Entry> countedSoFar() {
    List<Audit.Entry> counted = new ArrayList<>();
    windows.entrySet().forEach(entry -> add(entry, counted));
    windows.clear();
    return counted;
  }

  private static void add(Map.Entry<Kind, Window> entry, List<Audit.Entry> counted) {
    long more = entry.getValue().seen - SHOWN;
    if (more > 0) {
      Kind kind = entry.getKey();
      counted.add(
          new Audit.Entry(
              kind.action(),
              kind.identity(),
              "",
              kind.result(),
              more + " more of these within " + WINDOW.toSeconds() + " s are not written",
              Map.of("count", Long.toString(more))));
    }
  }
}
