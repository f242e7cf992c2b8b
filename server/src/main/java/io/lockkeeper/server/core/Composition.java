package io.lockkeeper.server.core;

import java.util.List;
import java.util.stream.Stream;

/**
 * How the locks of one acquisition are to be had.
 *
 * @param parts each lock, in the order of the request
 * @param planned the entries that are to be created
 * @param goesOn the holds that go on in new entries
 */
record Composition(List<Part> parts, List<PlannedEntry> planned, List<Hold> goesOn) {

  static Composition of(List<Part> parts) {
    return new Composition(
        List.copyOf(parts),
        fresh(parts).map(Part.Fresh::entry).toList(),
        fresh(parts).flatMap(part -> part.beside().stream()).toList());
  }

  private static Stream<Part.Fresh> fresh(List<Part> parts) {
    return parts.stream().filter(Part.Fresh.class::isInstance).map(Part.Fresh.class::cast);
  }

  /** Returns the holds that are shared with others of the same owner. */
  List<Hold> shared() {
    return parts.stream()
        .filter(Part.Shared.class::isInstance)
        .map(part -> ((Part.Shared) part).hold())
        .toList();
  }
}
