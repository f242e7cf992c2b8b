package io.lockkeeper.server.zookeeper.commit;

import io.lockkeeper.server.core.lock.LeaseId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Keeps the erasure of a lease back until the writing of its record is answered. Otherwise an
 * erasure that goes through while the record is in doubt could find nothing, and the record be
 * written after it. Where the record turns out to be another session's, nothing is erased.
 */
final class LeaseOrder {

  private final Set<LeaseId> recording = new HashSet<>();
  private final Map<LeaseId, LeaseErasure> held = new HashMap<>();

  /** Takes note of a new write; returns whether it is kept here for now. */
  boolean holds(Write write) {
    if (write instanceof LeaseRecording record) {
      recording.add(record.lease());
      return false;
    }
    if (write instanceof LeaseErasure erase && recording.contains(erase.lease())) {
      held.put(erase.lease(), erase);
      return true;
    }
    return false;
  }

  /** Takes note of an answer; returns what may go now. */
  Optional<Write> answered(Write write) {
    if (write instanceof LeaseRecording record && recording.remove(record.lease())) {
      Optional<Write> erasure = Optional.ofNullable(held.remove(record.lease()));
      return record.isTaken() ? Optional.empty() : erasure;
    }
    return Optional.empty();
  }

  void clear() {
    recording.clear();
    held.clear();
  }
}
