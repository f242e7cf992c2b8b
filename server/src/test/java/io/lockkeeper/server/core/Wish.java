package io.lockkeeper.server.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Builds what a test asks for. */
final class Wish {

  private final List<AcquireCommand.WantedLock> locks = new ArrayList<>();
  private final String requestId;
  private String owner = "";
  private Optional<Duration> wait = Optional.empty();
  private Optional<Duration> maxHold = Optional.empty();
  private Duration lockDelay = Duration.ZERO;
  private Map<String, String> metadata = Map.of();
  private boolean unsearched;
  private List<Long> heldTokens = List.of();

  private Wish(String requestId) {
    this.requestId = requestId;
  }

  static Wish named(String requestId) {
    return new Wish(requestId);
  }

  Wish exclusive(String... names) {
    for (String name : names) {
      lock(name, MutexKind.EXCLUSIVE);
    }
    return this;
  }

  Wish read(String name) {
    return lock(name, ReadWriteKind.READ);
  }

  Wish write(String name) {
    return lock(name, ReadWriteKind.WRITE);
  }

  Wish permits(String name, int permits, int limit) {
    return lock(name, new PermitsKind.Permits(permits, limit));
  }

  Wish lock(String name, Mode mode) {
    locks.add(new AcquireCommand.WantedLock(new LockName(name), mode));
    return this;
  }

  Wish by(String value) {
    owner = value;
    return this;
  }

  Wish waiting(Duration value) {
    wait = Optional.of(value);
    return this;
  }

  Wish atMost(Duration value) {
    maxHold = Optional.of(value);
    return this;
  }

  Wish delaying(Duration value) {
    lockDelay = value;
    return this;
  }

  Wish saying(Map<String, String> value) {
    metadata = value;
    return this;
  }

  Wish unsearched() {
    unsearched = true;
    return this;
  }

  Wish holding(long... tokens) {
    heldTokens = java.util.Arrays.stream(tokens).boxed().toList();
    return this;
  }

  AcquireCommand command(Optional<LeaseId> lease) {
    return new AcquireCommand(
        locks,
        lease,
        owner,
        requestId,
        wait,
        "tester",
        metadata,
        Optional.empty(),
        maxHold,
        lockDelay,
        unsearched,
        heldTokens);
  }
}
