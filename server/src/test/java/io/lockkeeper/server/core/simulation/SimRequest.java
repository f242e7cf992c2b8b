package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** One request, and what its client thinks of it. */
final class SimRequest {

  final String id;
  final LeaseId lease;
  final AcquireCommand command;
  Optional<StreamId> stream;
  long newest;
  boolean believes;

  /** What it was granted, for a coordinator that knows nothing of that. */
  List<Long> tokens = List.of();

  /** When it was asked for first. */
  private long askedAt = Long.MAX_VALUE;

  /** Until when it may be held at the longest. */
  long until = Long.MAX_VALUE;

  /** From when on nothing is certain, as its client was told last. */
  long inDoubtFrom = Long.MAX_VALUE;

  /** Whether the client wants it no more. */
  boolean left;

  /** Whether it was granted when its client had been told its ending. */
  boolean unwanted;

  /** Whether the client was told that it has it no more. */
  boolean released;

  boolean over;

  /** Whether its client was told an ending by which nothing of it is left. */
  boolean gone;

  /** The epoch of the coordinator that told it so. */
  long goneIn;

  /** When its client was told its ending. */
  long endedAt;

  /** Where its client was told its ending. */
  Optional<SimLink> endedOn = Optional.empty();

  /** Whether somebody else asks for it, too, who may do so when its client wants it no more. */
  boolean askedByTwin;

  /** Whether its client has closed the stream on which it would be told. */
  boolean deaf;

  SimRequest(String id, LeaseId lease, AcquireCommand command, Optional<StreamId> stream) {
    this.id = id;
    this.lease = lease;
    this.command = command;
    this.stream = stream;
  }

  boolean isLive() {
    return !over && !left;
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

  /**
   * Returns what is sent: the request, with what is left of its times, and with what tokens it goes
   * on holding.
   */
  AcquireCommand told(long now) {
    askedAt = Math.min(askedAt, now);
    return new AcquireCommand(
        command.locks(),
        command.lease(),
        command.owner(),
        command.requestId(),
        command.waitTimeout().map(wait -> left(askedAt + wait.toNanos() - now)),
        command.holder(),
        command.metadata(),
        command.positionInterval(),
        tokens.isEmpty() ? command.maxHold() : command.maxHold().map(max -> left(until - now)),
        command.lockDelay(),
        command.unsearched(),
        tokens,
        command.notifyContention());
  }

  private static Duration left(long nanos) {
    return Duration.ofNanos(Math.max(0, nanos));
  }

  @Override
  public String toString() {
    return id + " of " + lease.tag() + " " + command.owner() + " " + command.locks();
  }
}
