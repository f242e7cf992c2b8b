package io.lockkeeper.server.core;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;

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

  private final TinyWorld world;
  private final int number;
  private final LeaseId lease;
  private final Map<CallId, Long> sentAt = new HashMap<>();
  private Optional<TinyCoordinator> at = Optional.empty();
  private StreamId stream = new StreamId(0);
  private List<Long> tokens = List.of();
  private boolean asked;
  private boolean attached;
  private boolean granted;
  private boolean released;
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
    send(new ClientEvent.OpenLease(call(), lease, "hash", Bench.TTL, ""));
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
    send(new ClientEvent.KeepAlive(call(), lease));
  }

  void release() {
    left = true;
    if (attached) {
      send(new ClientEvent.Release(call(), lease, requestId, 0));
    }
  }

  /** Leaves where it is, and resumes its lease elsewhere. */
  void go(TinyCoordinator coordinator) {
    send(new ClientEvent.StreamClosed(stream));
    sentAt.clear();
    at = Optional.of(coordinator);
    attach();
  }

  private void attach() {
    attached = false;
    newest = 0;
    stream = new StreamId(++numbers);
    send(new ClientEvent.AttachLease(call(), lease, "hash", stream));
  }

  private CallId call() {
    CallId call = new CallId(++numbers);
    sentAt.put(call, world.now);
    return call;
  }

  private void send(ClientEvent event) {
    at.ifPresent(
        coordinator -> world.up(this, coordinator).send(event, () -> coordinator.on(event)));
  }

  void onAnswer(CallId call, Answer answer) {
    Optional<Long> sent = Optional.ofNullable(sentAt.remove(call));
    if (sent.isEmpty()) {
      return;
    }
    if (answer instanceof Answer.LeaseOpened opened) {
      extend(sent.get() + opened.validForNanos());
      attach();
    } else if (answer instanceof Answer.LeaseAttached there) {
      extend(sent.get() + there.validForNanos());
      attached = true;
      repeat();
    } else if (answer instanceof Answer.LeaseRenewed renewed) {
      extend(sent.get() + renewed.validForNanos());
    } else if (answer instanceof Answer.LeaseGone) {
      over = true;
    } else if (answer instanceof Answer.ReleaseDone) {
      released = true;
    }
  }

  private void repeat() {
    if (asked && !left && !over) {
      acquire();
    } else if (left && !released) {
      release();
    }
  }

  private void extend(long until) {
    if (granted && !left && world.now >= deadline) {
      // It was past: the client has said so, whatever comes now.
      release();
    }
    deadline = Math.max(deadline, until);
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
            left, over, at.map(TinyCoordinator::toString), stream, tokens, asked, attached, granted)
        + 31L * Objects.hash(released, deadline, newest, numbers, sentAt);
  }

  @Override
  public String toString() {
    return "client " + number;
  }
}
