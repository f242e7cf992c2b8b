package io.lockkeeper.server.core;

import java.util.Optional;

/** One request, and what its client thinks of it. */
final class SimRequest {

  final String id;
  final LeaseId lease;
  final AcquireCommand command;
  Optional<StreamId> stream;
  long newest;
  boolean believes;

  /** Until when it may be held at the longest. */
  long until = Long.MAX_VALUE;

  boolean left;
  boolean over;

  SimRequest(String id, LeaseId lease, AcquireCommand command, Optional<StreamId> stream) {
    this.id = id;
    this.lease = lease;
    this.command = command;
    this.stream = stream;
  }

  Optional<Mode> mode(LockName lock) {
    return command.locks().stream()
        .filter(wanted -> wanted.name().equals(lock))
        .map(AcquireCommand.WantedLock::mode)
        .findFirst();
  }

  boolean hasMode(Mode mode) {
    return command.locks().stream().anyMatch(wanted -> wanted.mode().equals(mode));
  }

  boolean isOfOwner(SimRequest other) {
    return lease.equals(other.lease)
        && !command.owner().isEmpty()
        && command.owner().equals(other.command.owner());
  }

  @Override
  public String toString() {
    return id + " of " + lease.tag() + " " + command.owner() + " " + command.locks();
  }
}
