package io.lockkeeper.server.zookeeper.commit;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Keeps the creation of an entry back until the creation of the one beside which it is placed is
 * answered. Otherwise it could pass the other, which failed in company and goes again, and be
 * refused for the lack of it.
 *
 * <p>Only what is itself placed can have something placed beside it before it is created: the names
 * of others are not known until then.
 */
final class PlacementOrder {

  private final Set<UUID> creating = new HashSet<>();
  private final List<EntryCreation> held = new ArrayList<>();

  /** Takes note of a new write; returns whether it is kept here for now. */
  boolean holds(Write write) {
    if (!(write instanceof EntryCreation create) || !create.isPlaced()) {
      return false;
    }
    boolean early = create.isBeside(creating);
    creating.add(create.id());
    if (early) {
      held.add(create);
    }
    return early;
  }

  /** Takes note of an answer; returns what may go now. */
  List<Write> answered(Write write) {
    if (!(write instanceof EntryCreation create) || !creating.remove(create.id())) {
      return List.of();
    }
    List<Write> free = new ArrayList<>();
    for (Iterator<EntryCreation> each = held.iterator(); each.hasNext(); ) {
      EntryCreation next = each.next();
      if (!next.isBeside(creating)) {
        free.add(next);
        each.remove();
      }
    }
    return free;
  }

  void clear() {
    creating.clear();
    held.clear();
  }
}
