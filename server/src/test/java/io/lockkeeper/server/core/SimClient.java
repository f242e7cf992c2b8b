package io.lockkeeper.server.core;

import java.time.Duration;
import java.util.HashMap;
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

  /** One request, and what the client thinks of it. */
  private static final class Request {
    final String id;
    final LeaseId lease;
    final AcquireCommand command;
    Optional<StreamId> stream;
    long newest;
    boolean believes;
    boolean left;
    boolean over;

    Request(String id, LeaseId lease, AcquireCommand command, Optional<StreamId> stream) {
      this.id = id;
      this.lease = lease;
      this.command = command;
      this.stream = stream;
    }

    LockName lock() {
      return command.locks().get(0).name();
    }
  }

  private final Sim sim;
  private final SimCoordinator coordinator;
  private final boolean byStream;

  /** Shorter than the session's bound, or longer. */
  private final long ttl;

  private final LeaseId lease;
  private final Map<String, Request> requests = new LinkedHashMap<>();
  private final Map<CallId, Long> sentAt = new HashMap<>();
  private Optional<StreamId> leaseStream = Optional.empty();
  private boolean open;
  private boolean gone;
  private long deadline;
  private long lastUp;

  SimClient(Sim sim, SimCoordinator coordinator) {
    this.sim = sim;
    this.coordinator = coordinator;
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
      CallId call = call();
      send(new ClientEvent.OpenLease(call, lease, "hash", Duration.ofNanos(ttl), ""));
    }
  }

  private CallId call() {
    CallId call = new CallId(sim.name());
    sentAt.put(call, sim.now);
    coordinator.expectAnswer(call, this);
    return call;
  }

  private void send(ClientEvent event) {
    lastUp = Math.max(lastUp, sim.now + sim.delay(250));
    sim.at(
        lastUp,
        () -> {
          sim.rules.expectAnswers(event, coordinator);
          coordinator.fromClient(this, event);
        });
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
    } else if (kind < 86) {
      ask();
    } else if (kind < 92) {
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

  private Request any() {
    List<Request> all = List.copyOf(requests.values());
    return all.get(sim.random.nextInt(all.size()));
  }

  private void acquire() {
    if (requests.values().stream().filter(r -> !r.over).count() >= 3) {
      return;
    }
    String id = "r" + sim.name();
    boolean own = byStream || sim.chance(50);
    LeaseId of = byStream ? new LeaseId(sim.random.nextLong(), sim.random.nextLong()) : lease;
    AcquireCommand command =
        new AcquireCommand(
            List.of(new AcquireCommand.WantedLock(sim.anyLock(), MutexKind.EXCLUSIVE)),
            byStream ? Optional.empty() : Optional.of(lease),
            "",
            id,
            waitTimeout(),
            "",
            Map.of(),
            sim.chance(10) ? Optional.of(Duration.ofMillis(700)) : Optional.empty(),
            Optional.empty(),
            Duration.ZERO,
            false);
    Request request =
        new Request(
            id, of, command, own ? Optional.of(new StreamId(sim.name())) : Optional.empty());
    requests.put(id, request);
    sendAcquire(request);
  }

  private Optional<Duration> waitTimeout() {
    int kind = sim.random.nextInt(10);
    return kind < 5
        ? Optional.empty()
        : Optional.of(kind < 7 ? Duration.ZERO : Duration.ofMillis(1 + sim.random.nextInt(4_000)));
  }

  private void sendAcquire(Request request) {
    boolean session = request.stream.isEmpty();
    if (session && leaseStream.isEmpty()) {
      attach();
    }
    StreamId stream = request.stream.or(() -> leaseStream).orElseThrow();
    UUID uuid = new UUID(request.lease.high(), sim.random.nextLong());
    send(new ClientEvent.Acquire(stream, uuid, request.lease, request.command, session));
  }

  private void acquireAgain(Request request) {
    if (byStream || request.left) {
      return;
    }
    if (request.stream.isPresent()) {
      request.stream = Optional.of(new StreamId(sim.name()));
    }
    sim.rules.allowGaps(request.id);
    sendAcquire(request);
  }

  private void release(Request request) {
    request.left = true;
    request.believes = false;
    long token = sim.chance(5) ? 1 : 0;
    if (token != 0) {
      // Refused: nothing has happened, and the client tries again rightly.
      send(new ClientEvent.Release(call(), request.lease, request.id, token));
    }
    send(new ClientEvent.Release(call(), request.lease, request.id, 0));
  }

  private void closeStream(Request request) {
    if (request.stream.isEmpty() || request.over) {
      return;
    }
    sim.rules.allowGaps(request.id);
    send(new ClientEvent.StreamClosed(request.stream.get()));
    if (byStream) {
      request.believes = false;
      request.left = true;
      request.over = true;
    }
  }

  private void ask() {
    if (sim.chance(50)) {
      send(new ClientEvent.QueryPosition(call(), any().lease, any().id));
    } else {
      send(new ClientEvent.CheckToken(call(), sim.anyLock(), sim.random.nextInt(3)));
    }
  }

  private void attach() {
    if (byStream) {
      return;
    }
    requests.keySet().forEach(sim.rules::allowGaps);
    leaseStream = Optional.of(new StreamId(sim.name()));
    String secret = sim.chance(2) ? "wrong" : "hash";
    send(new ClientEvent.AttachLease(call(), lease, secret, leaseStream.get()));
    if (!secret.equals("hash")) {
      send(new ClientEvent.AttachLease(call(), lease, "hash", leaseStream.get()));
    }
  }

  private void keepAlive() {
    if (!byStream) {
      send(new ClientEvent.KeepAlive(call(), lease));
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
              send(new ClientEvent.StreamClosed(request.stream.get()));
            });
    leaseStream.ifPresent(stream -> send(new ClientEvent.StreamClosed(stream)));
  }

  private void closeLease() {
    if (!byStream) {
      gone = true;
      requests.values().forEach(request -> request.believes = false);
      send(new ClientEvent.CloseLease(call(), lease));
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

  void onTell(Effect.Tell tell) {
    Request request = requests.get(tell.requestId());
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
    } else if (tell.notice() instanceof Notice.Granted && !request.left && !request.over) {
      request.believes = true;
      if (believes(request)) {
        sim.rules.onBelief(this, request.lock());
      }
      long hold = sim.patient ? sim.random.nextInt(40_000) * Sim.MILLI : sim.delay(1_500);
      sim.after(hold, () -> releaseLater(request));
    }
  }

  private void releaseLater(Request request) {
    if (!gone && !request.left && !request.over) {
      release(request);
    }
  }

  void onRefused(String requestId) {
    Request request = requests.get(requestId);
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
      extend(sentAt.get(call) + opened.validForNanos());
      attach();
      beat();
      act();
    } else if (answer instanceof Answer.LeaseRenewed renewed) {
      extend(sentAt.get(call) + renewed.validForNanos());
    } else if (answer instanceof Answer.LeaseAttached attached) {
      extend(sentAt.get(call) + attached.validForNanos());
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

  private boolean believes(Request request) {
    return request.believes && (byStream || sim.now < deadline);
  }

  /** How many times the client believes that it holds the lock. */
  long beliefs(LockName lock) {
    return requests.values().stream()
        .filter(request -> request.lock().equals(lock) && believes(request))
        .count();
  }

  Stream<String> requestIds() {
    return requests.keySet().stream();
  }

  @Override
  public String toString() {
    return (byStream ? "stream " : "lease ") + lease.tag();
  }
}
