package io.lockkeeper.server.security;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Keeps a flood of entries from filling the disk, and what matters from being pushed out by it. Of
 * those that have the action, the identity and the result in common the first are let through, the
 * others in the same window of time are counted. Where there are too many different ones, failures
 * are counted together and successes are not limited.
 */
final class RepeatedEntries {

  /** What counts as one action or result where these do not matter. */
  static final String ANY = "any";

  private static final Kind OTHERS =
      new Kind(ANY, Identity.of(ANY), ANY); // more kinds than are told apart

  private final int shown;
  private final Duration window;
  private final int maxKinds;

  /** In the order in which they began, which is that in which they end. */
  private final Map<Kind, Window> windows = new LinkedHashMap<>();

  /** What entries that are alike have in common. */
  record Kind(String action, Identity identity, String result) {

    /** Returns an entry about all entries of this kind. */
    Audit.Entry entry(String message, Map<String, String> details) {
      return new Audit.Entry(action, identity, "", result, message, details);
    }
  }

  /** The kind as which an entry was counted, and its number in its window, from 1. */
  record Count(Kind kind, long number) {}

  private static final class Window {
    private final long startNanos;
    private long seen;

    Window(long startNanos) {
      this.startNanos = startNanos;
    }
  }

  /**
   * Makes one that has counted nothing.
   *
   * @param shown how many that are alike are let through in a window
   * @param maxKinds how many kinds are told apart
   */
  RepeatedEntries(int shown, Duration window, int maxKinds) {
    this.shown = shown;
    this.window = window;
    this.maxKinds = maxKinds;
  }

  /** Counts an entry; one with a number above the limit is left out. */
  synchronized Count count(Kind kind, long nowNanos) {
    Kind counted = kind;
    if (windows.size() >= maxKinds && !windows.containsKey(kind)) {
      if (kind.result().equals(Audit.OK)) {
        return new Count(kind, 1);
      }
      counted = OTHERS;
    }
    return new Count(counted, ++windows.computeIfAbsent(counted, k -> new Window(nowNanos)).seen);
  }

  /** Returns, once, what was counted in the windows that are over. */
  synchronized List<Audit.Entry> countedUntil(long nowNanos) {
    List<Audit.Entry> counted = new ArrayList<>();
    Iterator<Map.Entry<Kind, Window>> each = windows.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry<Kind, Window> entry = each.next();
      if (nowNanos - entry.getValue().startNanos < window.toNanos()) {
        break;
      }
      each.remove();
      add(entry, counted);
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

  private void add(Map.Entry<Kind, Window> entry, List<Audit.Entry> counted) {
    long more = entry.getValue().seen - shown;
    if (more > 0) {
      counted.add(
          entry
              .getKey()
              .entry(
                  more + " more of these within " + window.toSeconds() + " s are not written",
                  Map.of("count", Long.toString(more))));
    }
  }
}
