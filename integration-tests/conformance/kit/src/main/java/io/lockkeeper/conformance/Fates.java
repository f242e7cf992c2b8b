package io.lockkeeper.conformance;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a client has told of each request: the grant and the ending, in the order of its lines. */
final class Fates {

  private static final Set<String> ENDINGS = Set.of("lost", "not_acquired", "released");

  private final Map<String, List<String>> told = new LinkedHashMap<>();

  /** Adds a report. From any thread. */
  synchronized void add(String id, String kind) {
    if (kind.equals("granted") || ENDINGS.contains(kind)) {
      told.computeIfAbsent(id, any -> new ArrayList<>()).add(kind);
    }
  }

  /** Of each request there is one grant at most and one ending at most, and nothing after it. */
  synchronized void mustBePlausible() {
    told.forEach(
        (id, kinds) -> {
          Unmet.unless(
              kinds.stream().filter(ENDINGS::contains).count() <= 1,
              "the client reports more than one ending of " + id + ": " + kinds);
          Unmet.unless(
              kinds.lastIndexOf("granted") <= 0,
              "the client reports that it was granted " + id + " again, or too late: " + kinds);
          Unmet.unless(
              !kinds.equals(List.of("granted", "not_acquired")),
              "the client reports that it never held what it was granted: " + id);
        });
  }
}
