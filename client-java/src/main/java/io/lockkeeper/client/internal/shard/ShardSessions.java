package io.lockkeeper.client.internal.shard;

import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockSpec;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.NotAcquiredException;
import io.lockkeeper.client.NotAcquiredReason;
import io.lockkeeper.client.internal.acquisition.Acquisition;
import io.lockkeeper.client.internal.acquisition.HoldState;
import io.lockkeeper.client.internal.acquisition.Keeper;
import io.lockkeeper.client.internal.acquisition.Room;
import io.lockkeeper.client.internal.acquisition.SessionLink;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.lease.Validity;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.session.Session;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.WrongShard;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * All requests for locks of one client: a session at each shard that it has asked, each with a
 * lease of its own, and what is on its way from one to another. On the client's loop only, but for
 * what says otherwise.
 */
public final class ShardSessions implements Session.Router {

  private final ClientContext context;
  private final Loop loop;
  private final Shards shards;
  private final Session given;
  private final Map<ShardServers, Session> sessions = new LinkedHashMap<>();
  private final Between between = new Between();
  private final Room room = new Room();
  private final AtomicLong requestsMade = new AtomicLong();
  private boolean closing;

  /** Makes those of a client. From any thread. */
  public ShardSessions(ClientContext context, Shards shards) {
    this.context = context;
    this.loop = context.loop();
    this.shards = shards;
    this.given = session(shards.given());
  }

  private Session session(ShardServers servers) {
    return sessions.computeIfAbsent(
        servers,
        its -> {
          boolean failFast = its == shards.given() && context.settings().failFast();
          return new Session(context, its.discovery(), failFast, room, this);
        });
  }

  /** Makes an acquisition that does nothing before {@link #request}. From any thread. */
  public Acquisition prepare(LockRequest request) {
    return new Acquisition(nextRequestId(), request, context, between);
  }

  /** Makes one whose locks are kept by {@code keeper} while that is of use. From any thread. */
  public Acquisition prepareKept(LockRequest request, Keeper keeper) {
    return new Acquisition(nextRequestId(), request, context, between, keeper);
  }

  /** Short, since ZooKeeper keeps it; unique in this client, and so in each of its leases. */
  private String nextRequestId() {
    return Long.toString(requestsMade.incrementAndGet(), Character.MAX_RADIX);
  }

  /**
   * Submits a request from any thread.
   *
   * @param refusal looks on the loop whether it must not be sent
   * @throws IllegalStateException if the client is closed; the request fails with it, too
   */
  public void request(
      Acquisition acquisition, Supplier<Optional<? extends LockkeeperException>> refusal) {
    Runnable task =
        () -> refusal.get().ifPresentOrElse(acquisition::fail, () -> submit(acquisition));
    if (!loop.executeIfRunning(task)) {
      LockkeeperException closed = Session.closedClient(acquisition);
      acquisition.result().completeExceptionally(closed); // For others than the caller.
      throw new IllegalStateException(closed.getMessage());
    }
  }

  private void submit(Acquisition acquisition) {
    if (acquisition.isOver()) {
      return; // Withdrawn before it came here.
    }
    if (closing) {
      acquisition.fail(Session.closedClient(acquisition));
      return;
    }
    try {
      Session session = session(shards.of(acquisition.request().locks()));
      acquisition.belongTo(session);
      session.submit(acquisition);
    } catch (LockkeeperException refusal) {
      acquisition.fail(refusal);
    }
  }

  @Override
  public void askAnew(Acquisition acquisition, Session from, Optional<WrongShard> said) {
    between.take(acquisition);
    if (said.isEmpty()) {
      // All who waited are told at the same moment.
      goOnAfter(acquisition, context.backoff().nanosAfter(acquisition.hops()));
      return;
    }
    shards.learn(serversOf(from), said.get(), () -> goOnFrom(from, acquisition));
  }

  private ShardServers serversOf(Session session) {
    return sessions.entrySet().stream()
        .filter(each -> each.getValue() == session)
        .map(Map.Entry::getKey)
        .findFirst()
        .orElseThrow();
  }

  /** Goes on elsewhere, or when the table has changed that leads to where it came from. */
  private void goOnFrom(Session from, Acquisition acquisition) {
    if (!between.has(acquisition)) {
      return;
    }
    try {
      boolean isElsewhere = session(shards.of(acquisition.request().locks())) != from;
      if (isElsewhere && acquisition.hops() <= Shards.MOST_HOPS_AT_ONCE) {
        goOn(acquisition);
      } else {
        goOnAfter(acquisition, context.backoff().withJitter(Shards.CHANGING_NANOS));
      }
    } catch (LockkeeperException refusal) {
      acquisition.fail(refusal);
    }
  }

  private void goOnAfter(Acquisition acquisition, long pauseNanos) {
    if (acquisition.waiting().isOver(0)) {
      acquisition.fail(acquisition.timedOut("its namespace is about to change its shard"));
      return;
    }
    long nanos = Math.min(pauseNanos, acquisition.waiting().leftNanos());
    Loop.Timer unused = loop.schedule(nanos, () -> goOn(acquisition));
  }

  private void goOn(Acquisition acquisition) {
    if (!between.has(acquisition)) {
      return; // It has ended meanwhile.
    }
    try {
      Session next = session(shards.of(acquisition.request().locks()));
      between.give(acquisition);
      acquisition.belongTo(next);
      next.submitMoved(acquisition);
    } catch (LockkeeperException refusal) {
      acquisition.fail(refusal);
    }
  }

  /** Returns whether {@code owner} holds a lock, by a request of his own, that is in the way. */
  public boolean isHeldBy(String owner, List<LockSpec> locks) {
    return !owner.isEmpty()
        && sessions.values().stream().anyMatch(session -> session.isHeldBy(owner, locks));
  }

  /**
   * Returns the public short name of the lease at the servers that the client was given; empty:
   * there is none now. From any thread.
   */
  public String leaseTag() {
    return given.leaseTag();
  }

  /** Ends all leases with all that they hold; runs {@code whenEnded} when all servers say so. */
  public void close(Runnable whenEnded) {
    closing = true;
    between.close();
    Countdown ended = new Countdown(sessions.size(), whenEnded);
    List.copyOf(sessions.values()).forEach(session -> session.close(ended::one));
  }

  /** Gives up everything; the loop is about to stop. */
  public void abandon() {
    between.close();
    sessions.values().forEach(Session::abandon);
  }

  /** Runs something when all sessions have ended. */
  private static final class Countdown {
    private final Runnable whenDone;
    private int left;

    Countdown(int count, Runnable whenDone) {
      this.left = count;
      this.whenDone = whenDone;
    }

    void one() {
      left--;
      if (left == 0) {
        whenDone.run();
      }
    }
  }

  /** What no session has: just made, or on its way from one shard to another. */
  private final class Between implements SessionLink {
    private final Set<Acquisition> moving = new LinkedHashSet<>();

    void take(Acquisition acquisition) {
      acquisition.askAnew(this, nextRequestId());
      moving.add(acquisition);
    }

    void give(Acquisition acquisition) {
      moving.remove(acquisition);
    }

    boolean has(Acquisition acquisition) {
      return moving.contains(acquisition);
    }

    void close() {
      List.copyOf(moving).forEach(each -> each.onClosed(Session.closedClient(each)));
    }

    @Override
    public boolean send(SessionRequest request) {
      return false;
    }

    @Override
    public LockkeeperException unavailable(String locks) {
      return new NotAcquiredException(
          locks, NotAcquiredReason.TIMED_OUT, "on its way to another shard", List.of());
    }

    @Override
    public Validity validity() {
      return given.validity();
    }

    @Override
    public HoldState.LimitedHolds limitedHolds() {
      return given.limitedHolds();
    }

    @Override
    public void ended(Acquisition acquisition) {
      if (moving.remove(acquisition)) {
        room.leave();
      }
    }
  }
}
