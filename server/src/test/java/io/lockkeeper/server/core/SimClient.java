package io.lockkeeper.server.core;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * A client that does what clients do, by chance: it believes that it holds a lock from the grant
 * until it releases, hears of the loss, or its own deadline is past.
 */
final class SimClient {

  private final Sim sim;
  private final SimCoordinator coordinator;
  private final boolean byStream;

  /** Shorter than the session's bound, or longer. */
  private final long ttl;

  private final LeaseId lease;
  private final Map<String, SimRequest> requests = new LinkedHashMap<>();
  private final SimUplink up;
  private Optional<StreamId> leaseStream = Optional.empty();
  private boolean open;
  private boolean gone;
  private long deadline;

  SimClient(Sim sim, SimCoordinator coordinator) {
    this.sim = sim;
    this.coordinator = coordinator;
    this.up = new SimUplink(sim, coordinator, this);
    this.byStream = sim.chance(40);
    this.ttl = (sim.chance(30) ? 20 : 5) * Sim.SECOND;
    this.lease = new LeaseId(sim.random.nextLong(), sim.random.nextLong());
  }

  SimCoordinator coordinator() {
    return coordinator;
  }

  void start() {
    if (byStream) {
      open = true;
      act();
    } else {
      CallId call = up.call();
      up.send(new ClientEvent.OpenLease(call, lease, "hash", Duration.ofNanos(ttl), ""));
    }
  }

  private void act() {
    if (gone || !open || !sim.chaos) {
      return;
    }
    int kind = sim.random.nextInt(100);
    if (kind < 40 || requests.isEmpty()) {
      acquire();
    } else if (kind < 60) {
      if (!sim.patient) {
        release(any());
      }
    } else if (kind < 70) {
      acquireAgain(any());
    } else if (kind < 80) {
      if (!sim.patient || sim.chance(10)) {
        closeStream(any());
      }
    } else if (kind < 83) {
      up.send(sim.wishes.question(up.call(), any()));
    } else if (kind < 91) {
      up.send(sim.wishes.meddling(up.call(), any()));
    } else if (kind < 94) {
      attach();
    } else if (kind < 96) {
      keepAlive();
    } else if (kind == 96) {
      vanish();
    } else if (kind == 97) {
      closeLease();
    }
    sim.after(sim.delay(2_000), this::act);
  }

  private SimRequest any() {
    List<SimRequest> all = List.copyOf(requests.values());
    return all.get(sim.random.nextInt(all.size()));
  }

  private void acquire() {
    List<SimRequest> live = requests.values().stream().filter(r -> !r.over && !r.left).toList();
    if (live.size() >= 4) {
      return;
    }
    String id = "r" + sim.name();
    boolean own = byStream || sim.chance(50);
    LeaseId of = byStream ? new LeaseId(sim.random.nextLong(), sim.random.nextLong()) : lease;
    AcquireCommand command =
        byStream || live.isEmpty() || sim.chance(60)
            ? sim.wishes.fresh(id, byStream ? Optional.empty() : Optional.of(lease))
            : sim.wishes.related(id, live.get(sim.random.nextInt(live.size())));
    acquire(of, command, own);
  }

  private void acquire(LeaseId of, AcquireCommand command, boolean own) {
    Optional<StreamId> stream = own ? Optional.of(new StreamId(sim.name())) : Optional.empty();
    SimRequest request = new SimRequest(command.requestId(), of, command, stream);
    requests.put(request.id, request);
    sendAcquire(request);
  }

  /** The owner of a hold takes it once more, or in another mode, and may give the first back. */
  private void goOn(SimRequest held) {
    if (byStream || held.command.owner().isEmpty() || !sim.chaos) {
      return;
    }
    acquire(lease, sim.wishes.goingOn("r" + sim.name(), held), sim.chance(50));
    if (sim.chance(50)) {
      release(held);
    }
  }

  private void sendAcquire(SimRequest request) {
    boolean session = request.stream.isEmpty();
    if (session && leaseStream.isEmpty()) {
      attach();
    }
    StreamId stream = request.stream.or(() -> leaseStream).orElseThrow();
    UUID uuid = new UUID(request.lease.high(), sim.random.nextLong());
    up.send(new ClientEvent.Acquire(stream, uuid, request.lease, request.command, session));
  }

  private void acquireAgain(SimRequest request) {
    if (byStream || request.left) {
      return;
    }
    if (request.stream.isPresent()) {
      request.stream = Optional.of(new StreamId(sim.name()));
    }
    sim.rules.allowGaps(request.id);
    sendAcquire(request);
  }

  private void release(SimRequest request) {
    request.left = true;
    request.believes = false;
    long token = sim.chance(5) ? 1 : 0;
    if (token != 0) {
      // Refused: nothing has happened, and the client tries again rightly.
      up.send(new ClientEvent.Release(up.call(), request.lease, request.id, token));
    }
    up.send(new ClientEvent.Release(up.call(), request.lease, request.id, 0));
  }

  private void closeStream(SimRequest request) {
    if (request.stream.isEmpty() || request.over) {
      return;
    }
    sim.rules.allowGaps(request.id);
    up.send(new ClientEvent.StreamClosed(request.stream.get()));
    if (byStream) {
      request.believes = false;
      request.left = true;
      request.over = true;
    }
  }

  private void attach() {
    if (byStream) {
      return;
    }
    requests.keySet().forEach(sim.rules::allowGaps);
    leaseStream = Optional.of(new StreamId(sim.name()));
    String secret = sim.chance(2) ? "wrong" : "hash";
    up.send(new ClientEvent.AttachLease(up.call(), lease, secret, leaseStream.get()));
    if (!secret.equals("hash")) {
      up.send(new ClientEvent.AttachLease(up.call(), lease, "hash", leaseStream.get()));
    }
  }

  private void keepAlive() {
    if (!byStream) {
      up.send(new ClientEvent.KeepAlive(up.call(), lease));
    }
  }

  private void beat() {
    if (!gone && open) {
      keepAlive();
      sim.after(ttl / 3, this::beat);
    }
  }

  private void vanish() {
    gone = true;
    requests.keySet().forEach(sim.rules::allowGaps);
    if (byStream || sim.chance(50)) {
      closeStreams();
    }
    sim.after(sim.delay(5_000), sim::newClient);
  }

  /** The transport has noticed that the client is gone. */
  private void closeStreams() {
    requests.values().stream()
        .filter(request -> request.stream.isPresent())
        .forEach(
            request -> {
              request.believes &= !byStream;
              up.send(new ClientEvent.StreamClosed(request.stream.get()));
            });
    leaseStream.ifPresent(stream -> up.send(new ClientEvent.StreamClosed(stream)));
  }

  private void closeLease() {
    if (!byStream) {
      gone = true;
      requests.values().forEach(request -> request.believes = false);
      up.send(new ClientEvent.CloseLease(up.call(), lease));
      sim.after(sim.delay(5_000), sim::newClient);
    }
  }

  /** The run ends: the client goes, one way or another. */
  void finish() {
    if (byStream) {
      vanish();
    } else if (sim.chance(50)) {
      closeLease();
    } else {
      vanish();
    }
  }

  void onCoordinatorGone() {
    if (!gone && byStream) {
      requests.values().forEach(request -> request.believes = false);
    }
    gone = true;
    sim.after(sim.delay(2_000), sim::newClient);
  }

  void onTell(Effect.Tell tell, long toldAt) {
    SimRequest request = requests.get(tell.requestId());
    boolean mine =
        request.stream.filter(tell.stream()::equals).isPresent()
            || leaseStream.filter(tell.stream()::equals).isPresent();
    if (gone || !mine || tell.sequence() < request.newest) {
      return;
    }
    request.newest = tell.sequence();
    if (tell.notice().isFinal()) {
      request.believes = false;
      request.over = true;
    } else if (tell.notice() instanceof Notice.Granted granted && !request.left && !request.over) {
      onGranted(request, granted, toldAt);
    } else if (tell.notice() instanceof Notice.ReleaseRequested && sim.chance(50)) {
      Duration needs = Duration.ofMillis(sim.random.nextInt(2_000));
      up.send(new ClientEvent.AnswerRelease(up.call(), request.lease, request.id, needs));
    }
  }

  private void onGranted(SimRequest request, Notice.Granted granted, long toldAt) {
    request.command.maxHold().ifPresent(max -> request.until = until(request, granted, toldAt));
    request.believes = !sim.holds.isDispossessed(request.id);
    if (believes(request)) {
      sim.rules.onBelief(this, request);
    }
    if (sim.chance(request.hasMode(ReadWriteKind.WRITE) ? 70 : 20)) {
      goOn(request);
    }
    long hold = sim.patient ? sim.random.nextInt(40_000) * Sim.MILLI : sim.delay(1_500);
    sim.after(hold, () -> releaseLater(request));
  }

  /** A message may take as long as the coordinator allows, and no longer. */
  private static long until(SimRequest request, Notice.Granted granted, long toldAt) {
    return Math.min(request.until, toldAt + granted.validForNanos() + 100 * Sim.MILLI);
  }

  /** Who waits for more keeps what it has. */
  private void releaseLater(SimRequest request) {
    if (gone || request.left || request.over) {
      return;
    }
    boolean waits =
        requests.values().stream()
            .anyMatch(
                other ->
                    !other.over
                        && !other.left
                        && !other.believes
                        && other.lease.equals(request.lease)
                        && other.command.owner().equals(request.command.owner()));
    if (waits) {
      sim.after(sim.delay(2_000), () -> releaseLater(request));
    } else {
      release(request);
    }
  }

  /** The lock was taken away by others than the client's coordinator. */
  void onDispossessed(String requestId) {
    Optional.ofNullable(requests.get(requestId)).ifPresent(request -> request.believes = false);
  }

  void onRefused(String requestId) {
    SimRequest request = requests.get(requestId);
    request.over = true;
    request.believes = false;
  }

  void onLeaseEnded() {
    requests.values().forEach(request -> request.believes = false);
    if (!gone) {
      gone = true;
      sim.after(sim.delay(2_000), sim::newClient);
    }
  }

  void onAnswer(CallId call, Answer answer) {
    if (gone) {
      return;
    }
    if (answer instanceof Answer.LeaseOpened opened) {
      open = true;
      extend(up.sentAt(call) + opened.validForNanos());
      attach();
      beat();
      act();
    } else if (answer instanceof Answer.LeaseRenewed renewed) {
      extend(up.sentAt(call) + renewed.validForNanos());
    } else if (answer instanceof Answer.LeaseAttached attached) {
      extend(up.sentAt(call) + attached.validForNanos());
    } else if (answer instanceof Answer.LeaseGone || (!open && answer instanceof Answer.Failed)) {
      onLeaseEnded();
    }
  }

  private void extend(long until) {
    if (sim.now >= deadline) {
      // The deadline was past: the client has told its user so, whatever comes now.
      requests.values().forEach(request -> request.believes = false);
    }
    deadline = Math.max(deadline, until);
  }

  private boolean believes(SimRequest request) {
    return request.believes && sim.now < request.until && (byStream || sim.now < deadline);
  }

  /** Returns the requests by which the client believes that it holds the lock. */
  List<SimRequest> beliefs(LockName lock) {
    return requests.values().stream()
        .filter(request -> request.mode(lock).isPresent() && believes(request))
        .toList();
  }

  Stream<String> requestIds() {
    return requests.keySet().stream();
  }

  @Override
  public String toString() {
    return (byStream ? "stream " : "lease ") + lease.tag();
  }
}
