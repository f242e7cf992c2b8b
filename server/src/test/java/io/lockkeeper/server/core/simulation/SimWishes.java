package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import io.lockkeeper.server.core.lock.RevocationRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What clients ask for, by chance. */
final class SimWishes {

  private final Sim sim;

  SimWishes(Sim sim) {
    this.sim = sim;
  }

  /** Returns a request for some locks in some order. */
  AcquireCommand fresh(String id, Optional<LeaseId> lease) {
    List<LockName> names = new ArrayList<>(sim.locks);
    Collections.shuffle(names, sim.random);
    int count = Math.min(names.size(), sim.chance(70) ? 1 : 2 + sim.random.nextInt(2));
    List<AcquireCommand.WantedLock> wanted =
        names.subList(0, count).stream()
            .map(name -> new AcquireCommand.WantedLock(name, sim.modes.any(name)))
            .toList();
    return command(id, lease, anyOwner(), wanted);
  }

  /** Returns a request of the same owner for a lock that it has or waits for: again, or other. */
  AcquireCommand related(String id, SimRequest to) {
    List<AcquireCommand.WantedLock> known = to.command.locks();
    AcquireCommand.WantedLock one = known.get(sim.random.nextInt(known.size()));
    Mode mode = sim.chance(50) ? one.mode() : sim.modes.any(one.name());
    List<AcquireCommand.WantedLock> wanted = new ArrayList<>();
    wanted.add(new AcquireCommand.WantedLock(one.name(), mode));
    LockName more = sim.anyLock();
    if (sim.chance(15) && !more.equals(one.name())) {
      wanted.add(new AcquireCommand.WantedLock(more, sim.modes.any(more)));
    }
    return command(id, to.command.lease(), to.command.owner(), wanted);
  }

  /** Returns a request that goes on from what its owner holds: the same, or reading for writing. */
  AcquireCommand goingOn(String id, SimRequest held) {
    List<AcquireCommand.WantedLock> wanted =
        held.command.locks().stream()
            .map(
                lock ->
                    lock.mode() == ReadWriteKind.WRITE && sim.chance(80)
                        ? new AcquireCommand.WantedLock(lock.name(), ReadWriteKind.READ)
                        : lock)
            .filter(lock -> sim.chance(80))
            .toList();
    return command(
        id,
        held.command.lease(),
        held.command.owner(),
        wanted.isEmpty() ? held.command.locks() : wanted);
  }

  private AcquireCommand command(
      String id, Optional<LeaseId> lease, String owner, List<AcquireCommand.WantedLock> wanted) {
    return new AcquireCommand(
        wanted,
        lease,
        owner,
        id,
        waitTimeout(),
        "",
        Map.of(),
        sim.chance(10) ? Optional.of(Duration.ofMillis(700)) : Optional.empty(),
        sim.chance(10)
            ? Optional.of(Duration.ofMillis(100 + sim.random.nextInt(3_000)))
            : Optional.empty(),
        Duration.ofMillis(sim.chance(20) ? 1 + sim.random.nextInt(3_000) : 0),
        sim.chance(5),
        List.of(),
        sim.chance(40));
  }

  private String anyOwner() {
    int kind = sim.random.nextInt(10);
    return kind < 3 ? "" : kind < 8 ? "a" : "b";
  }

  private Optional<Duration> waitTimeout() {
    int kind = sim.random.nextInt(10);
    return kind < 5
        ? Optional.empty()
        : Optional.of(kind < 7 ? Duration.ZERO : Duration.ofMillis(1 + sim.random.nextInt(4_000)));
  }

  /** Returns what a client asks that changes nothing. */
  ClientEvent question(CallId call, SimRequest request) {
    return sim.chance(50)
        ? new ClientEvent.QueryPosition(call, request.lease, request.id)
        : new ClientEvent.CheckToken(call, sim.anyLock(), sim.random.nextInt(3));
  }

  /** Returns what people and operators do with locks of anybody. */
  ClientEvent meddling(CallId call, SimRequest request) {
    LockName lock = sim.anyLock();
    int kind = sim.random.nextInt(12);
    if (kind >= 10) {
      return sim.freezes.meddling(call, kind == 10);
    } else if (kind < 2) {
      return new ClientEvent.RequestRelease(call, lock, ask(false));
    } else if (kind < 4) {
      return new ClientEvent.ForceRelease(call, lock, sim.chance(10) ? 7 : 0, ask(true));
    } else if (kind < 7 && sim.modes.family(lock) == SimModes.Family.PERMITS) {
      return new ClientEvent.ConfigureLock(call, lock, sim.modes.anyLimit());
    }
    Map<String, String> metadata = Map.of("n", "" + sim.name());
    return new ClientEvent.UpdateMetadata(call, request.lease, request.id, metadata);
  }

  /** Returns a wish that somebody give way, now or after a while. */
  RevocationRequest ask(boolean force) {
    return new RevocationRequest(
        "ask-" + sim.name(),
        "somebody",
        "",
        sim.chance(50)
            ? Optional.of(Duration.ofMillis(1 + sim.random.nextInt(2_000)))
            : Optional.empty(),
        force);
  }

  /** Returns the same command, left out of the search for cycles or of who hears of waiters. */
  static AcquireCommand changed(AcquireCommand command, boolean unsearched, boolean untold) {
    return new AcquireCommand(
        command.locks(),
        command.lease(),
        command.owner(),
        command.requestId(),
        command.waitTimeout(),
        command.holder(),
        command.metadata(),
        command.positionInterval(),
        command.maxHold(),
        command.lockDelay(),
        unsearched || command.unsearched(),
        command.heldTokens(),
        !untold && command.notifyContention());
  }
}
