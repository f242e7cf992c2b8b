package io.lockkeeper.server.web;

import io.lockkeeper.server.coordinator.api.CoordinatorStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Whether requests for locks can be served, and if not, why, in words.
 *
 * @param serving whether they can
 * @param reasons what is missing; when serving, what some locks suffer from, if anything
 */
record Readiness(boolean serving, List<String> reasons) {

  /**
   * Returns what the coordinator says.
   *
   * @param impediment what keeps requests from reaching it
   * @param namesLocks whether names of locks may be told to whoever reads this
   */
  static Readiness of(CoordinatorStatus status, Optional<String> impediment, boolean namesLocks) {
    Readiness coordinator = of(status, namesLocks);
    if (impediment.isEmpty()) {
      return coordinator;
    }
    List<String> reasons = new ArrayList<>(coordinator.reasons());
    reasons.add(impediment.get());
    return new Readiness(false, List.copyOf(reasons));
  }

  private static Readiness of(CoordinatorStatus status, boolean namesLocks) {
    List<String> reasons = new ArrayList<>(status.impediments());
    // What cannot be written is, as a rule, the directory of a lock, with its name.
    if (namesLocks) {
      status.store().inWords().ifPresent(reasons::add);
    } else if (status.store().unwritable() > 0) {
      reasons.add(
          "directories in ZooKeeper that cannot be written as they should: "
              + status.store().unwritable()
              + "; the log names them");
    }
    return new Readiness(status.serving(), List.copyOf(reasons));
  }
}
