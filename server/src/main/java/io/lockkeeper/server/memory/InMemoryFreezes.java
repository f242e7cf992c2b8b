package io.lockkeeper.server.memory;

import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.Freeze;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** The frozen prefixes of an {@link InMemoryCluster}: tells what the mirror sees. */
final class InMemoryFreezes {

  private final Consumer<StoreEvent> events;
  private final Map<String, FreezeEvent.Read> records = new TreeMap<>();
  private long zxid;

  InMemoryFreezes(Consumer<StoreEvent> events) {
    this.events = events;
  }

  void set(Freeze freeze) {
    FreezeEvent.Read record = new FreezeEvent.Read(freeze, ++zxid);
    if (records.put(freeze.prefix(), record) == null) {
      events.accept(new FreezeEvent.Appeared(freeze.prefix()));
    }
    events.accept(record);
  }

  FreezeEvent.Outcome remove(String prefix) {
    if (records.remove(prefix) == null) {
      return FreezeEvent.Outcome.NOT_FROZEN;
    }
    events.accept(new FreezeEvent.Vanished(prefix));
    return FreezeEvent.Outcome.DONE;
  }

  void thaw(String prefix, long writtenAt) {
    FreezeEvent.Read record = records.get(prefix);
    if (record != null && record.zxid() == writtenAt) {
      remove(prefix);
    }
  }

  /** Returns all that there is, as whoever begins to mirror it is told. */
  List<StoreEvent> listing() {
    List<StoreEvent> told = new ArrayList<>();
    told.add(new FreezeEvent.Listed(records.keySet()));
    told.addAll(records.values());
    return told;
  }
}
