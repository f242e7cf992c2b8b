package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.List;

/**
 * How the locks of one acquisition are to be had.
 *
 * @param parts each lock, in the order of the request
 * @param planned the entries that are to be created
 * @param goesOn the holds that go on in new entries
 */
record Composition(List<Part> parts, List<PlannedEntry> planned, List<Hold> goesOn) {

  static Composition of(List<Part> parts) {
    List<PlannedEntry> planned = new ArrayList<>(parts.size());
    List<Hold> goesOn = new ArrayList<>(0);
    for (Part part : parts) {
      if (part instanceof Part.Fresh fresh) {
        planned.add(fresh.entry());
        fresh.beside().ifPresent(goesOn::add);
      }
    }
    return new Composition(List.copyOf(parts), List.copyOf(planned), List.copyOf(goesOn));
  }

  /** Returns the holds that are shared with others of the same owner. */
  List<Hold> shared() {
    if (planned.size() == parts.size()) {
      return List.of();
    }
    List<Hold> shared = new ArrayList<>(parts.size());
    for (Part part : parts) {
      if (part instanceof Part.Shared one) {
        shared.add(one.hold());
      }
    }
    return List.copyOf(shared);
  }
}
