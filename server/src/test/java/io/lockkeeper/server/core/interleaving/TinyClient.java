package io.lockkeeper.server.core.interleaving;

import io.lockkeeper.server.core.Bench;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.simulation.Wish;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;

/**
 * A client with one lease that wants the lock once. It believes that it holds it from the grant
 * until it releases, hears of the loss, or its own deadline is past.
 */
final class TinyClient extends TinyActor {

  final String requestId;

  /** Whether it has given the lock back, or wants it no more. */
  boolean left;

  /** Whether it was told an end. */
  boolean over;

  private static final int MAX_RETURNS = 4;
  private static final Set<Failure.Reason> ELSEWHERE =
      EnumSet.of(Failure.Reason.MOVED, Failure.Reason.UNKNOWN_LEASE, Failure.Reason.UNAVAILABLE);

  /** What was asked, and when. */
  private record Asked(ClientEvent event, long sentAt) {}

  private final TinyWorld world;
  private final int number;
  private final LeaseId lease;
  private final Map<CallId, Asked> calls = new HashMap<>();
  private Optional<TinyCoordinator> at = Optional.empty();
  private StreamId stream = new StreamId(0);
  private List<Long> tokens = List.of();
  private boolean asked;
  private boolean attached;
  private boolean granted;
  private boolean released;
  private boolean gone;
  private boolean refused;
  private int returns;
  private long deadline = Long.MIN_VALUE;
  private long newest;
  private long numbers;

  TinyClient(TinyWorld world, int number) {
    this.world = world;
    this.number = number;
    this.requestId = "client" + number;
    this.lease = new LeaseId((long) number << 32, number);
    this.numbers = number * 1_000L;
  }

  static int numberOf(long name) {
    return (int) (name / 1_000);
  }

  boolean believes() {
    return granted && !left && !over && world.now < deadline;
  }

  boolean mayRely() {
    return !left && !over && (!granted || world.now < deadline);
  }

  boolean isAttached() {
    return attached;
  }

  void open(TinyCoordinator coordinator) {
    at = Optional.of(coordinator);
    call(call -> new ClientEvent.OpenLease(call, lease, "hash", Bench.TTL, ""));
  }

  void acquire() {
    asked = true;
    Wish wish = Wish.named(requestId).exclusive(TinyZooKeeper.LOCK.value());
    if (granted) {
      wish.holding(tokens.stream().mapToLong(Long::longValue).toArray());
    }
    UUID id = new UUID(lease.high(), ++numbers);
    AcquireCommand command = wish.command(Optional.of(lease));
    send(new ClientEvent.Acquire(stream, id, lease, command, true));
  }

  void keepAlive() {
    call(call -> new ClientEvent.KeepAlive(call, lease));
  }

  void release() {
    left = true;
    sayReleased();
  }

  private void sayReleased() {
    if (attached) {
      call(call -> new ClientEvent.Release(call, lease, requestId, 0));
    }
  }

  /** Returns whether it must look for its lease: nobody is there, or whoever is refuses it. */
  boolean isLost() {
    boolean alone = refused || at.filter(coordinator -> coordinator.dead).isPresent();
    return alone && !gone && !released && (left || !over) && returns < MAX_RETURNS;
  }

  /** Returns whether it may come to a coordinator, which has heard of its lease. */
  boolean mayComeTo(TinyCoordinator coordinator) {
    return coordinator.serves(lease);
  }

  /** Finds its lease. */
  void comeBack(TinyCoordinator coordinator) {
    returns++;
    go(coordinator);
  }

  /** Leaves where it is, and resumes its lease elsewhere; it hears that one alone from now on. */
  void go(TinyCoordinator coordinator) {
    send(new ClientEvent.StreamClosed(stream, false));
    at.ifPresent(left -> world.down(left, this).clear());
    calls.clear();
    at = Optional.of(coordinator);
    attach();
  }

  private void attach() {
    attached = false;
    refused = false;
    newest = 0;
    stream = new StreamId(++numbers);
    call(call -> new ClientEvent.AttachLease(call, lease, "hash", stream));
  }

  private void call(Function<CallId, ClientEvent> event) {
    CallId call = new CallId(++numbers);
    Asked asked = new Asked(event.apply(call), world.now);
    calls.put(call, asked);
    send(asked.event());
  }

  private void send(ClientEvent event) {
    at.filter(coordinator -> !coordinator.dead)
        .ifPresent(
            coordinator -> world.up(this, coordinator).send(event, () -> coordinator.on(event)));
  }

  void onAnswer(CallId id, Answer answer) {
    Optional<Asked> call = Optional.ofNullable(calls.remove(id));
    if (call.isEmpty()) {
      return;
    }
    long sentAt = call.get().sentAt();
    if (answer instanceof Answer.LeaseOpened opened) {
      extend(sentAt + opened.validForNanos());
      attach();
    } else if (answer instanceof Answer.LeaseAttached there) {
      extend(sentAt + there.validForNanos());
      attached = true;
      repeat();
    } else if (answer instanceof Answer.LeaseRenewed renewed) {
      extend(sentAt + renewed.validForNanos());
    } else if (answer instanceof Answer.LeaseGone) {
      onLeaseEnded(stream);
    } else if (answer instanceof Answer.ReleaseDone) {
      released = true;
    } else if (answer instanceof Answer.Failed failed) {
      onFailed(call.get().event(), failed.failure().reason());
    }
  }

  private void onFailed(ClientEvent event, Failure.Reason reason) {
    if (reason == Failure.Reason.UNKNOWN_ACQUISITION) {
      released = true;
    } else if (reason != Failure.Reason.UNAVAILABLE || !(event instanceof ClientEvent.KeepAlive)) {
      onSentAway(reason);
    }
  }

  void onRefused(Effect.Refuse refusal) {
    if (refusal.stream().equals(stream)) {
      onSentAway(refusal.failure().reason());
    }
  }

  private void onSentAway(Failure.Reason reason) {
    world.check(ELSEWHERE.contains(reason), this + " is refused: " + reason);
    onSentAway(stream);
  }

  /** What it has may be elsewhere by now. */
  void onSentAway(StreamId from) {
    if (from.equals(stream)) {
      refused = true;
      attached = false;
    }
  }

  void onLeaseEnded(StreamId of) {
    gone |= of.equals(stream);
    over |= gone;
  }

  private void repeat() {
    if (asked && !left && !over) {
      acquire();
    } else if (asked && !released) {
      // Whoever told it the end may not have been able to delete what was left.
      sayReleased();
    }
  }

  private void extend(long until) {
    if (granted && !left && world.now >= deadline) {
      // It was past: the client has said so, whatever comes now.
      release();
    }
    deadline = Math.max(deadline, until);
  }

  /** Returns whether a client does anything about it: what it does not, is not even carried. */
  static boolean minds(Notice notice) {
    return notice.isFinal() || notice instanceof Notice.Granted;
  }

  void onTell(Effect.Tell tell) {
    if (!tell.stream().equals(stream) || tell.sequence() < newest) {
      return;
    }
    newest = tell.sequence();
    if (tell.notice().isFinal()) {
      over = true;
    } else if (tell.notice() instanceof Notice.Granted grant && !left && !over) {
      tokens = grant.grants().stream().map(g -> g.token().value()).toList();
      granted = true;
      if (believes()) {
        world.onBelief(this, tokens.get(0));
      }
    }
  }

  boolean wasGranted() {
    return granted;
  }

  @Override
  long state() {
    return Objects.hash(
            left,
            over,
            gone,
            at.map(TinyCoordinator::toString),
            stream,
            tokens,
            asked,
            attached,
            granted)
        + 31L * Objects.hash(released, refused, returns, deadline, newest, numbers, calls);
  }

  @Override
  public String toString() {
    return "client " + number;
  }
}
