package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PermitsKind;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Builds what a test asks for. */
public final class Wish {

  private final List<AcquireCommand.WantedLock> locks = new ArrayList<>();
  private final String requestId;
  private String owner = "";
  private Optional<Duration> wait = Optional.empty();
  private Optional<Duration> maxHold = Optional.empty();
  private Duration lockDelay = Duration.ZERO;
  private Map<String, String> metadata = Map.of();
  private boolean unsearched;
  private List<Long> heldTokens = List.of();
  private boolean notifyContention;

  private Wish(String requestId) {
    this.requestId = requestId;
  }

  public static Wish named(String requestId) {
    return new Wish(requestId);
  }

  public Wish exclusive(String... names) {
    for (String name : names) {
      lock(name, MutexKind.EXCLUSIVE);
    }
    return this;
  }

  public Wish read(String name) {
    return lock(name, ReadWriteKind.READ);
  }

  public Wish write(String name) {
    return lock(name, ReadWriteKind.WRITE);
  }

  public Wish permits(String name, int permits, int limit) {
    return lock(name, new PermitsKind.Permits(permits, limit));
  }

  public Wish lock(String name, Mode mode) {
    locks.add(new AcquireCommand.WantedLock(new LockName(name), mode));
    return this;
  }

  public Wish by(String value) {
    owner = value;
    return this;
  }

  public Wish waiting(Duration value) {
    wait = Optional.of(value);
    return this;
  }

  public Wish atMost(Duration value) {
    maxHold = Optional.of(value);
    return this;
  }

  public Wish delaying(Duration value) {
    lockDelay = value;
    return this;
  }

  public Wish saying(Map<String, String> value) {
    metadata = value;
    return this;
  }

  public Wish unsearched() {
    unsearched = true;
    return this;
  }

  public Wish holding(long... tokens) {
    heldTokens = java.util.Arrays.stream(tokens).boxed().toList();
    return this;
  }

  public Wish notifiedOfContention() {
    notifyContention = true;
    return this;
  }

  public AcquireCommand command(Optional<LeaseId> lease) {
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
        heldTokens,
        notifyContention);
  }
}
