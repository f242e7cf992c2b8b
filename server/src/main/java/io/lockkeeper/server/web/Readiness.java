package io.lockkeeper.server.web;

import io.lockkeeper.server.coordinator.api.CoordinatorStatus;
import io.lockkeeper.server.coordinator.api.CoordinatorStatus.SessionStatus;
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
    if (status.failed()) {
      return new Readiness(
          false, List.of("the coordinator's state is in doubt: it does nothing any more"));
    }
    if (status.draining()) {
      return new Readiness(
          false, List.of("drained: the coordinator hands over what it serves, or has"));
    }
    List<String> reasons = new ArrayList<>(status.store().refusal().stream().toList());
    if (!status.mirrorCurrent()) {
      reasons.add(
          "the mirror of the queues is not whole: no connection to ZooKeeper, or it is being rebuilt");
    }
    if (status.sessions().isEmpty()) {
      reasons.add("no lock session is open in ZooKeeper yet");
    } else if (status.sessions().stream().noneMatch(SessionStatus::usable)) {
      status.sessions().forEach(session -> reasons.add(inWords(session)));
    }
    if (status.serving()) {
      reasons.clear();
    }
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

  private static String inWords(SessionStatus session) {
    String problem =
        session.connected()
            ? "is connected but not proved alive by a quorum write"
            : "is not connected to ZooKeeper";
    return "lock session " + session.name() + " " + problem;
  }
}
