package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.Quota;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A client that does what clients do, by chance: it believes that it holds a lock from the grant
 * until it releases, hears of the loss, or its own deadline is past.
 */
final class SimClient {

  /** Its lease; of a client by streams, nothing. */
  final LeaseId lease;

  final boolean byStream;

  /** Who it is: one of two tenants. */
  final Caller caller;

  /** What its lease is proved with. */
  static final String SECRET = "hash";

  private final Sim sim;

  /** Shorter than the session's bound, or longer. */
  private final long ttl;

  private final Map<String, SimRequest> requests = new LinkedHashMap<>();
  private final SimResume way;
  private boolean open;
  private boolean gone;
  private long deadline;
  private long frozenUntil;
  private int underWay;

  SimClient(Sim sim) {
    this.sim = sim;
    this.byStream = sim.chance(30);
    this.ttl = (sim.chance(30) ? 20 : sim.chance(30) ? 3 : 5) * Sim.SECOND;
    this.lease = new LeaseId(sim.random.nextLong(), sim.random.nextLong());
    String tenant = "tenant" + (lease.low() & 1);
    this.caller = new Caller(tenant, false, tenant, Quota.UNLIMITED);
    this.way = new SimResume(sim, this);
  }

  void start() {
    way.connect();
    if (byStream) {
      open = true;
      act();
    } else {
      way.send(new ClientEvent.OpenLease(way.call(), lease, SECRET, Duration.ofNanos(ttl), ""));
    }
  }

  /** Does something in the client's process: now, or when it goes on. */
  void take(Runnable step) {
    if (sim.now < frozenUntil) {
      sim.at(frozenUntil, step);
    } else {
      step.run();
    }
  }

  void freeze(long nanos) {
    frozenUntil = Math.max(frozenUntil, sim.now + nanos);
  }

  /** Something is under way to it, or from it. */
  void expects() {
    underWay++;
  }

  /** Something has arrived, or never will. */
  void settled() {
    underWay--;
  }

  boolean isIdle() {
    return underWay == 0;
  }

  boolean isAt(SimCoordinator coordinator) {
    return way.isAt(coordinator);
  }

  boolean isGone() {
    return gone;
  }

  /** Returns whether it is gone, and nobody uses a lock any more because of it. */
  boolean isForgotten() {
    return gone && requests.values().stream().noneMatch(this::believes);
  }

  /** Returns whether it has a lease and wants to keep it. */
  boolean hasLease() {
    return open && !gone && !byStream;
  }

  Collection<SimRequest> requests() {
    return requests.values();
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
    } else if (kind < 68) {
      acquireAgain(any());
    } else if (kind < 76) {
      if (!sim.patient || sim.chance(10)) {
        closeStream(any());
      }
    } else if (kind < 79) {
      way.send(sim.wishes.question(way.call(), any()));
    } else if (kind < 87) {
      way.send(sim.wishes.meddling(way.call(), any()));
    } else {
      actOnLease(kind);
    }
    sim.after(sim.delay(2_000), () -> take(this::act));
  }

  private void actOnLease(int kind) {
    if (kind == 96) {
      vanish();
    } else if (kind > 97 && !byStream) {
      // Of its stream's end a frozen client cannot know, and it has no other lease.
      freeze(sim.chance(70) ? sim.delay(2_000) : sim.random.nextInt(20_000) * Sim.MILLI);
    } else if (byStream) {
      return;
    } else if (kind < 89 && way.isAttached()) {
      way.attach();
    } else if (kind == 89) {
      meetTwin();
    } else if (kind < 93) {
      keepAlive();
    } else if (kind < 96) {
      way.leave(500);
    } else if (kind == 97) {
      closeLease();
    }
  }

  private SimRequest any() {
    List<SimRequest> all = List.copyOf(requests.values());
    return all.get(sim.random.nextInt(all.size()));
  }

  private void acquire() {
    List<SimRequest> live = requests.values().stream().filter(SimRequest::isLive).toList();
    if (live.size() >= 4 || (!byStream && !way.isAttached())) {
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
    sim.requests.put(request.id, request);
    sendAcquire(request);
  }

  /** The owner of a hold takes it once more, or in another mode, and may give the first back. */
  private void goOn(SimRequest held) {
    if (!way.isAttached() || held.command.owner().isEmpty() || !sim.chaos) {
      return;
    }
    acquire(lease, sim.wishes.goingOn("r" + sim.name(), held), sim.chance(50));
    if (sim.chance(50)) {
      release(held);
    }
  }

  /** Asks, or asks again wherever it is connected now. */
  void sendAcquire(SimRequest request) {
    if (!byStream && request.stream.isPresent() && request.newest == 0) {
      request.stream = Optional.of(new StreamId(sim.name()));
    }
    boolean session = request.stream.isEmpty();
    request.deaf = false;
    request.gone = false;
    request
        .stream
        .or(way::leaseStream)
        .ifPresent(
            stream -> {
              UUID uuid = new UUID(request.lease.high(), sim.random.nextLong());
              way.send(
                  new ClientEvent.Acquire(stream, uuid, request.lease, told(request), session));
            });
  }

  /** What is sent; of one that waits at times with its token, which anybody can compute. */
  private AcquireCommand told(SimRequest request) {
    AcquireCommand command = request.told(sim.now);
    return command.heldTokens().isEmpty() && command.locks().size() == 1 && sim.chance(5)
        ? sim.zooKeeper
            .ofRequest(request)
            .map(node -> command.holding(List.of(node.token().value())))
            .orElse(command)
        : command;
  }

  private void acquireAgain(SimRequest request) {
    boolean ended = request.over && request.endedOn.filter(way::isOn).isEmpty();
    if (byStream || request.left || ended || !way.isAttached()) {
      return;
    }
    if (request.stream.isPresent()) {
      request.stream = Optional.of(new StreamId(sim.name()));
    }
    sim.rules.allowGaps(request.id);
    // It is told again where it stands, by the number that had then.
    request.newest = 0;
    sendAcquire(request);
  }

  private void release(SimRequest request) {
    request.left = true;
    request.believes = false;
    if (sim.chance(5)) {
      // Refused: nothing has happened, and the client tries again rightly.
      way.send(new ClientEvent.Release(way.call(), request.lease, request.id, 1));
    }
    sendRelease(request);
  }

  void sendRelease(SimRequest request) {
    request.released = false;
    if (!byStream && !way.isAttached()) {
      // First it says what it holds, since all of an owner may share one entry; then this.
      return;
    }
    way.send(new ClientEvent.Release(way.call(), request.lease, request.id, 0));
  }

  private void closeStream(SimRequest request) {
    if (request.stream.isEmpty() || request.over) {
      return;
    }
    sim.rules.allowGaps(request.id);
    way.send(new ClientEvent.StreamClosed(request.stream.get(), sim.chance(50)));
    request.deaf = true;
    if (byStream) {
      lose(request);
    }
  }

  /** Its stream is gone, and with it what it was. */
  private static void lose(SimRequest request) {
    request.believes = false;
    request.left = true;
    request.over = true;
  }

  private void keepAlive() {
    if (!byStream) {
      way.send(new ClientEvent.KeepAlive(way.call(), lease));
    }
  }

  private void beat() {
    if (!gone && open) {
      keepAlive();
      sim.after(ttl / 3, () -> take(this::beat));
    }
  }

  /** It dies, and its connection with it. */
  void vanish() {
    if (!gone) {
      gone = true;
      requests.keySet().forEach(sim.rules::allowGaps);
      if (byStream) {
        requests.values().forEach(SimClient::lose);
      }
      way.leave(100);
      sim.after(sim.delay(5_000), sim::newClient);
    }
  }

  private void closeLease() {
    gone = true;
    requests.values().forEach(request -> request.believes = false);
    way.send(new ClientEvent.CloseLease(way.call(), lease));
    sim.after(sim.delay(5_000), sim::newClient);
  }

  /** The run ends: the client goes, one way or another. */
  void finish() {
    if (!gone && !byStream && sim.chance(50)) {
      closeLease();
    } else {
      vanish();
    }
  }

  /** Its connection breaks. */
  void breakLink() {
    way.breakLink();
  }

  void onLinkLost(SimLink link) {
    if (!way.isOn(link)) {
      return;
    }
    if (byStream || !open) {
      vanish();
    } else {
      way.leave(500);
    }
  }

  void onSentAway(SimLink link) {
    if (way.isOn(link) && !gone) {
      way.leave(200);
    }
  }

  /** Another stream has taken the place of one that the client thinks is the newest. */
  void onSuperseded(StreamId stream) {
    if (!gone && way.isOn(stream)) {
      way.attach();
    } else if (!gone) {
      List.copyOf(requests.values()).stream()
          .filter(request -> request.isLive() && request.stream.equals(Optional.of(stream)))
          .forEach(this::acquireAgain);
    }
  }

  /** Somebody else resumes the lease. */
  void meetTwin() {
    if (hasLease()) {
      new SimTwin(sim, this, way.anyCoordinator()).start();
    }
  }

  void onTell(SimLink link, Effect.Tell tell, long toldAt) {
    SimRequest request = requests.get(tell.requestId());
    if (gone
        || !way.isOn(link)
        || !isAskedOn(request, tell.stream())
        || tell.sequence() < request.newest) {
      return;
    }
    request.newest = tell.sequence();
    if (tell.notice().isFinal()) {
      sim.losses.onHeard(this, request, tell);
      request.believes = false;
      request.over = true;
      request.endedAt = sim.now;
      request.endedOn = Optional.of(link);
    } else if (request.over || (request.left && request.released)) {
      // It has come after its withdrawal, or its deletion was not certain when that was told.
      request.unwanted = true;
      sendRelease(request);
    } else if (tell.notice() instanceof Notice.Granted granted && request.isLive()) {
      onGranted(request, granted, toldAt);
    } else if (tell.notice() instanceof Notice.Jeopardy || tell.notice() instanceof Notice.Safe) {
      onDoubt(request, tell.notice(), toldAt);
    } else if (tell.notice() instanceof Notice.Contended && request.isLive() && sim.chance(50)) {
      sim.after(sim.delay(200), () -> take(() -> releaseLater(request)));
    } else if (tell.notice() instanceof Notice.ReleaseRequested && sim.chance(50)) {
      Duration needs = Duration.ofMillis(sim.random.nextInt(2_000));
      way.send(new ClientEvent.AnswerRelease(way.call(), request.lease, request.id, needs));
    }
  }

  /** Returns whether the stream is the one on which it has asked last. */
  private boolean isAskedOn(SimRequest request, StreamId stream) {
    return request.stream.filter(stream::equals).isPresent() || way.isOn(stream);
  }

  /**
   * Returns whether a refusal on a stream is the answer to the newest attempt: the lease's stream
   * can still bring that to an earlier one, whose own stream was closed.
   */
  private boolean isAboutNewest(SimRequest request, StreamId stream) {
    return (request.stream.isPresent() && !request.deaf)
        ? request.stream.get().equals(stream)
        : way.isOn(stream);
  }

  private void onGranted(SimRequest request, Notice.Granted granted, long toldAt) {
    boolean first = request.tokens.isEmpty();
    request.tokens = granted.grants().stream().map(g -> g.token().value()).toList();
    request.command.maxHold().ifPresent(max -> request.until = until(request, granted, toldAt));
    request.believes = !sim.holds.isDispossessed(request.id);
    if (believes(request)) {
      sim.rules.onBelief(this, request);
    }
    if (first && sim.chance(request.hasMode(ReadWriteKind.WRITE) ? 70 : 20)) {
      goOn(request);
    }
    long hold = sim.patient ? sim.random.nextInt(40_000) * Sim.MILLI : sim.delay(1_500);
    sim.after(hold, () -> take(() -> releaseLater(request)));
  }

  /**
   * It counts from when it hears; a message may take as long as the coordinator allows, and no
   * longer.
   */
  private long until(SimRequest request, Notice.Granted granted, long toldAt) {
    long heardAt = Math.min(sim.now, toldAt + 100 * Sim.MILLI);
    return Math.min(request.until, heardAt + granted.validForNanos());
  }

  /** Who has no lease to renew may go on until the time is over that it is told of last. */
  private void onDoubt(SimRequest request, Notice notice, long toldAt) {
    if (notice instanceof Notice.Jeopardy jeopardy) {
      request.inDoubtFrom = toldAt + jeopardy.validForNanos();
    } else if (notice instanceof Notice.Safe) {
      request.inDoubtFrom = Long.MAX_VALUE;
    }
  }

  /** Who waits for more keeps what it has. */
  private void releaseLater(SimRequest request) {
    if (gone || !request.isLive()) {
      return;
    }
    boolean waits =
        requests.values().stream()
            .anyMatch(
                other ->
                    other.isLive()
                        && !other.believes
                        && other.lease.equals(request.lease)
                        && other.command.owner().equals(request.command.owner()));
    if (waits) {
      sim.after(sim.delay(2_000), () -> take(() -> releaseLater(request)));
    } else {
      release(request);
    }
  }

  /** The lock was taken away by others than the client's coordinator. */
  void onDispossessed(String requestId) {
    Optional.ofNullable(requests.get(requestId)).ifPresent(request -> request.believes = false);
  }

  void onRefused(SimLink link, Effect.Refuse refusal) {
    SimRequest request = requests.get(refusal.requestId());
    if (!way.isOn(link) || !(byStream || isAboutNewest(request, refusal.stream()))) {
      return;
    }
    Failure.Reason reason = refusal.failure().reason();
    boolean again =
        reason == Failure.Reason.MOVED
            || reason == Failure.Reason.UNAVAILABLE
            || reason == Failure.Reason.LEAVING
            || reason == Failure.Reason.UNKNOWN_LEASE;
    if (byStream || !again) {
      lose(request);
    } else if (gone || !request.isLive()) {
      return;
    } else if (reason == Failure.Reason.UNAVAILABLE && sim.chance(70)) {
      sim.after(sim.delay(1_000), () -> take(() -> askAgain(request)));
    } else if (reason == Failure.Reason.UNAVAILABLE) {
      release(request);
    } else {
      way.onFailed(new ClientEvent.StreamClosed(refusal.stream(), false), reason);
    }
  }

  private void askAgain(SimRequest request) {
    if (!gone && request.isLive() && way.isAttached()) {
      sendAcquire(request);
    }
  }

  /** Its lease has ended, says a stream; one of a twin's says nothing to it. */
  void onLeaseEnded(SimLink link) {
    if (way.isOn(link)) {
      onLeaseEnded();
    }
  }

  void onLeaseEnded() {
    requests.values().forEach(request -> request.believes = false);
    if (!gone) {
      gone = true;
      sim.after(sim.delay(2_000), sim::newClient);
    }
  }

  void onAnswer(SimLink link, CallId call, Answer answer) {
    if (gone || !way.hasAsked(call)) {
      return;
    }
    ClientEvent asked = way.asked(call);
    if (answer instanceof Answer.LeaseOpened opened) {
      open = true;
      extend(way.sentAt(call) + opened.validForNanos());
      way.attach();
      beat();
      act();
    } else if (answer instanceof Answer.LeaseRenewed renewed) {
      extend(way.sentAt(call) + renewed.validForNanos());
    } else if (answer instanceof Answer.LeaseAttached attached) {
      extend(way.sentAt(call) + attached.validForNanos());
      if (way.isOn(link)) {
        way.onAttached();
      }
    } else if (answer instanceof Answer.LeaseGone || (!open && answer instanceof Answer.Failed)) {
      onLeaseEnded();
    } else {
      onRest(link, asked, answer);
    }
  }

  private void onRest(SimLink link, ClientEvent asked, Answer answer) {
    Optional<SimRequest> request =
        asked instanceof ClientEvent.Release release && release.token() == 0
            ? Optional.of(requests.get(release.requestId()))
            : Optional.empty();
    Failure.Reason reason =
        answer instanceof Answer.Failed failed ? failed.failure().reason() : Failure.Reason.ENDED;
    if (answer instanceof Answer.ReleaseDone) {
      request.ifPresent(r -> sim.losses.checkGone(r, answer));
    }
    if (answer instanceof Answer.ReleaseDone || reason == Failure.Reason.UNKNOWN_ACQUISITION) {
      request.ifPresent(r -> r.released = true);
    } else if (open && !byStream && way.isOn(link) && isAboutLease(asked)) {
      way.onFailed(asked, reason);
    }
  }

  private static boolean isAboutLease(ClientEvent asked) {
    return asked instanceof ClientEvent.KeepAlive
        || asked instanceof ClientEvent.AttachLease
        || asked instanceof ClientEvent.Release;
  }

  private void extend(long until) {
    if (sim.now >= deadline) {
      // The deadline was past: the client has told its user so, whatever comes now.
      requests.values().stream().filter(r -> r.isLive() && r.believes).forEach(this::release);
    }
    deadline = Math.max(deadline, until);
  }

  boolean believes(SimRequest request) {
    long leaseEnd = byStream ? request.inDoubtFrom : deadline;
    return request.believes && sim.now < request.until && sim.now < leaseEnd;
  }

  /** Returns the requests by which the client believes that it holds the lock. */
  List<SimRequest> beliefs(LockName lock) {
    return requests.values().stream()
        .filter(request -> request.mode(lock).isPresent() && believes(request))
        .toList();
  }

  @Override
  public String toString() {
    return (byStream ? "stream " : "lease ") + lease.tag();
  }
}
