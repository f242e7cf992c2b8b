package io.lockkeeper.client.internal.kept;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.NotAcquiredException;
import io.lockkeeper.client.NotAcquiredReason;
import io.lockkeeper.client.ReleaseResult;
import io.lockkeeper.client.internal.acquisition.Acquisition;
import io.lockkeeper.client.internal.acquisition.Pending;
import io.lockkeeper.client.internal.acquisition.PromptHandle;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.protocol.Exclusion;
import io.lockkeeper.client.internal.protocol.LockNames;
import io.lockkeeper.client.internal.session.Session;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The locks of one client that stay with it when they are released, as long as nobody else wants
 * them: the next request with the same {@link Terms} uses them without a message. For any thread:
 * its monitor guards what there is, and whatever may run other code is done after it was left.
 */
public final class KeptLocks {

  /** How many are kept unused; the next is released as it would be without this. */
  private static final int MOST_UNUSED = 1_000;

  /** How many may wait in the client for what others in it use. */
  private static final int MOST_WAITING = 10_000;

  /** How long those who waited in the client before it was wanted by others may go first. */
  private static final long HAND_ON_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final Logger LOG = LoggerFactory.getLogger(KeptLocks.class);

  private final ClientContext context;
  private final Session session;
  private final Loop loop;
  private final Map<Terms, Line> lines = new HashMap<>();
  private final Map<String, List<KeptHold>> usedByOwner = new HashMap<>();
  private int unused;
  private int waiting;

  private static void nothing() {}

  /** What there is under the same terms. */
  private static final class Line {
    final List<KeptHold> holds = new ArrayList<>(1);
    final Deque<Turn> waiting = new ArrayDeque<>(1);

    /** Returns whether something is used that will be handed on. */
    boolean isKept() {
      for (KeptHold hold : holds) {
        if (!hold.wanted && hold.handle().isValid()) {
          return true;
        }
      }
      return false;
    }
  }

  public KeptLocks(ClientContext context, Session session) {
    this.context = context;
    this.session = session;
    this.loop = context.loop();
  }

  /**
   * Takes a request for locks that may be kept.
   *
   * @param callerWaits whether the caller waits for the result, so that no callback hears of it in
   *     his thread
   * @throws IllegalStateException if the client is closed
   */
  public Pending submit(LockRequest request, boolean callerWaits) {
    Executor completing = callerWaits ? Runnable::run : this::onLoop;
    Turn turn = new Turn(this, context, request);
    Runnable next;
    synchronized (this) {
      next = begin(turn, completing);
    }
    next.run();
    return turn;
  }

  /**
   * Returns why a request is refused that is made past what is kept: if its owner uses a kept lock
   * that it is for, which the server does not know to be his, he would wait for himself.
   */
  public synchronized Optional<NotAcquiredException> refusal(LockRequest request) {
    return refusal(request, Optional.empty());
  }

  private Optional<NotAcquiredException> refusal(LockRequest request, Optional<Terms> terms) {
    for (KeptHold hold : usedByOwner.getOrDefault(request.owner(), List.of())) {
      boolean alike = terms.equals(Optional.of(hold.terms));
      if (!alike && Exclusion.between(hold.terms.locks(), request.locks())) {
        return Optional.of(wouldDeadlock(request));
      }
    }
    return Optional.empty();
  }

  private static NotAcquiredException wouldDeadlock(LockRequest request) {
    return new NotAcquiredException(
        LockNames.join(request.locks()),
        NotAcquiredReason.WOULD_DEADLOCK,
        "owner '"
            + request.owner()
            + "' has it already, by a request with other terms, and one of the two is kept",
        List.of());
  }

  private Runnable begin(Turn turn, Executor completing) {
    Optional<? extends LockkeeperException> refusal =
        refusal(turn.request(), Optional.of(turn.terms()));
    if (refusal.isEmpty()) {
      Line line = lines.get(turn.terms());
      Optional<KeptHold> usable = line == null ? Optional.empty() : find(line, turn.owner());
      if (usable.isPresent()) {
        use(usable.get(), turn);
        return () -> completing.execute(turn::complete);
      }
      if (line == null || !turn.terms().isExclusive() || !line.isKept()) {
        turn.state = Turn.State.ASKING;
        return () -> ask(turn);
      }
      refusal = queue(line, turn);
    }
    if (refusal.isEmpty()) {
      return KeptLocks::nothing;
    }
    LockkeeperException why = refusal.get();
    return refused(turn, why, completing);
  }

  private Runnable refused(Turn turn, LockkeeperException why, Executor completing) {
    turn.state = Turn.State.RELEASED;
    return () ->
        completing.execute(
            () -> {
              turn.fail(why);
              turn.released().complete(Turn.NOTHING_LEFT);
            });
  }

  /** Returns what a request of {@code owner} may use now. */
  private static Optional<KeptHold> find(Line line, String owner) {
    for (KeptHold hold : line.holds) {
      boolean usable = hold.users.isEmpty() ? !hold.wanted : hold.isUsedBy(owner);
      if (usable && hold.handle().isValid()) {
        return Optional.of(hold);
      }
    }
    return Optional.empty();
  }

  /** Has it wait for what others in the client use; returns why not, if it may not. */
  private Optional<LockkeeperException> queue(Line line, Turn turn) {
    Optional<Long> limit = turn.request().waitLimit().map(Loop::toNanos);
    if (limit.filter(nanos -> nanos == 0).isPresent()) {
      return Optional.of(timedOut(turn));
    }
    if (waiting >= MOST_WAITING) {
      return Optional.of(
          new LockkeeperException(
              LockNames.quoted(turn.names())
                  + ": "
                  + MOST_WAITING
                  + " requests wait in this client: make fewer at a time"));
    }
    turn.state = Turn.State.WAITING;
    line.waiting.add(turn);
    waiting++;
    turn.limit = limit.map(nanos -> loop.schedule(nanos, () -> onWaitOver(turn)));
    int ahead = line.waiting.size();
    context.callbacks().runIfRoom(() -> turn.tellPlaces(ahead));
    return Optional.empty();
  }

  private static NotAcquiredException timedOut(Turn turn) {
    return new NotAcquiredException(
        turn.names(), NotAcquiredReason.TIMED_OUT, "it is in use by this client", List.of());
  }

  private void use(KeptHold hold, Turn turn) {
    unused -= hold.idle ? 1 : 0;
    hold.idle = false;
    if (hold.users.isEmpty() && !turn.owner().isEmpty()) {
      usedByOwner.computeIfAbsent(turn.owner(), owner -> new ArrayList<>(1)).add(hold);
    }
    hold.users.add(turn);
    turn.hold = Optional.of(hold);
    turn.handle().begin(hold.handle());
    turn.state = Turn.State.USING;
  }

  private void unuse(KeptHold hold, Turn turn) {
    hold.users.remove(turn);
    if (hold.users.isEmpty() && !turn.owner().isEmpty()) {
      usedByOwner.computeIfPresent(
          turn.owner(),
          (owner, holds) -> {
            holds.remove(hold);
            return holds.isEmpty() ? null : holds;
          });
    }
  }

  /** Asks the server, as if nothing was ever kept. */
  private void ask(Turn turn) {
    KeptHold hold = new KeptHold(this, turn);
    Acquisition acquisition = session.prepareKept(turn.sent(hold), hold);
    synchronized (this) {
      turn.acquisition = Optional.of(acquisition);
    }
    if (turn.isUnwanted()) {
      acquisition.becomeUnwanted();
    }
    CompletableFuture<LockHandle> unusedResult =
        acquisition
            .result()
            .whenComplete(
                (handle, failure) -> {
                  if (failure == null) {
                    onGranted(turn, hold, (PromptHandle) handle);
                  } else {
                    onNotGranted(turn, acquisition, failure);
                  }
                });
    session.request(
        acquisition,
        () ->
            session.isHeldBy(turn.owner(), turn.terms().locks())
                ? Optional.of(wouldDeadlock(turn.request()))
                : Optional.empty());
  }

  private void askAgain(Turn turn) {
    try {
      ask(turn);
    } catch (IllegalStateException closed) {
      LOG.atDebug().log("The client is closed, which its result says");
    }
  }

  private void onGranted(Turn turn, KeptHold hold, PromptHandle handle) {
    synchronized (this) {
      hold.begin(handle);
      lines.computeIfAbsent(hold.terms, terms -> new Line()).holds.add(hold);
      use(hold, turn);
    }
    turn.complete();
  }

  private void onNotGranted(Turn turn, Acquisition acquisition, Throwable why) {
    synchronized (this) {
      turn.state = Turn.State.RELEASED;
    }
    turn.fail(why);
    relay(acquisition, turn);
  }

  private static void relay(Acquisition acquisition, Turn turn) {
    CompletableFuture<ReleaseResult> unusedResult =
        acquisition.released().whenComplete((result, never) -> turn.released().complete(result));
  }

  /** Its caller no longer wants it: what it asks for is not to be told any more. */
  void becomeUnwanted(Turn turn) {
    Optional<Acquisition> asks;
    synchronized (this) {
      asks = turn.state == Turn.State.ASKING ? turn.acquisition : Optional.empty();
    }
    asks.ifPresent(Acquisition::becomeUnwanted);
  }

  /** Its caller no longer wants it, wherever it stands. On the loop. */
  void withdraw(Turn turn) {
    Runnable next = KeptLocks::nothing;
    synchronized (this) {
      if (turn.state == Turn.State.WAITING) {
        leaveQueue(turn);
        next =
            refused(
                turn,
                new NotAcquiredException(
                    turn.names(), NotAcquiredReason.WITHDRAWN, "the caller gave up", List.of()),
                Runnable::run);
      } else if (turn.state == Turn.State.ASKING) {
        next = () -> turn.acquisition.ifPresent(Acquisition::withdraw);
      } else if (turn.state == Turn.State.USING) {
        next = () -> end(turn);
      }
    }
    next.run();
  }

  private void leaveQueue(Turn turn) {
    Line line = lines.get(turn.terms());
    if (line != null && line.waiting.remove(turn)) {
      waiting--;
    }
    turn.limit.ifPresent(Loop.Timer::cancel);
  }

  private void onWaitOver(Turn turn) {
    Runnable next = KeptLocks::nothing;
    synchronized (this) {
      if (turn.state == Turn.State.WAITING) {
        leaveQueue(turn);
        next = refused(turn, timedOut(turn), Runnable::run);
      }
    }
    next.run();
  }

  /** Its user gives it back. Nothing follows if that was done, or if it is lost. */
  void end(Turn turn) {
    Runnable next;
    synchronized (this) {
      if (turn.state != Turn.State.USING || !turn.handle().isValid()) {
        return;
      }
      turn.state = Turn.State.RELEASED;
      next = pass(turn.hold.orElseThrow(), turn);
    }
    turn.end(Optional.empty());
    next.run();
  }

  /** Hands on what a user gives back, keeps it, or lets go of it; returns what is left to do. */
  private Runnable pass(KeptHold hold, Turn turn) {
    unuse(hold, turn);
    int levels = hold.users.size();
    if (levels > 0) {
      return () -> turn.released().complete(Turn.oneOf(levels));
    }
    long now = loop.nanos();
    Line line = lines.get(hold.terms);
    if (line != null
        && !line.waiting.isEmpty()
        && (!hold.wanted || hold.handOnUntilNanos - now > 0)) {
      Turn next = line.waiting.element();
      leaveQueue(next);
      use(hold, next);
      return () -> {
        turn.released().complete(Turn.GIVEN_BACK);
        onLoop(next::complete);
      };
    }
    if (hold.wanted || unused >= MOST_UNUSED) {
      return letGo(hold, () -> relay(hold.acquisition(), turn));
    }
    hold.idle = true;
    unused++;
    hold.unusedSinceNanos = now;
    hold.keepNanos = Loop.toNanos(turn.request().keepUnused().orElseThrow());
    time(hold, now);
    return () -> turn.released().complete(Turn.GIVEN_BACK);
  }

  /** Releases what nobody uses. */
  private Runnable letGo(KeptHold hold, Runnable whenReleasing) {
    List<Turn> left = remove(hold);
    return () -> {
      whenReleasing.run();
      onLoop(hold.acquisition()::withdraw);
      left.forEach(this::askAgain);
    };
  }

  /** Forgets a hold; returns those who waited for it, who ask the server now. */
  private List<Turn> remove(KeptHold hold) {
    hold.gone = true;
    unused -= hold.idle ? 1 : 0;
    hold.idle = false;
    hold.timer.ifPresent(Loop.Timer::cancel);
    Line line = lines.get(hold.terms);
    if (line == null) {
      return List.of();
    }
    line.holds.remove(hold);
    if (line.holds.isEmpty()) {
      lines.remove(hold.terms);
      return toAsk(line);
    }
    return List.of();
  }

  private List<Turn> toAsk(Line line) {
    List<Turn> left = List.copyOf(line.waiting);
    line.waiting.clear();
    waiting -= left.size();
    for (Turn turn : left) {
      turn.limit.ifPresent(Loop.Timer::cancel);
      turn.state = Turn.State.ASKING;
    }
    return left;
  }

  /** Others want it, or it may be lost soon. */
  void onWanted(KeptHold hold) {
    Runnable next = KeptLocks::nothing;
    synchronized (this) {
      if (!hold.wanted && !hold.gone) {
        hold.wanted = true;
        hold.handOnUntilNanos = loop.nanos() + HAND_ON_NANOS;
        Line line = lines.get(hold.terms);
        if (hold.users.isEmpty()) {
          next = letGo(hold, KeptLocks::nothing);
        } else if (line != null && !line.waiting.isEmpty()) {
          next = () -> loop.schedule(HAND_ON_NANOS, () -> onHandOnOver(hold));
        }
      }
    }
    next.run();
  }

  /** Those who still wait in the client have had their time. */
  private void onHandOnOver(KeptHold hold) {
    List<Turn> left = List.of();
    synchronized (this) {
      Line line = lines.get(hold.terms);
      if (!hold.gone && line != null) {
        left = toAsk(line);
      }
    }
    left.forEach(this::askAgain);
  }

  void onLost(KeptHold hold, LossReason reason) {
    List<Turn> losers;
    List<Turn> left;
    synchronized (this) {
      if (hold.gone) {
        return; // It was on its way back.
      }
      losers = List.copyOf(hold.users);
      for (Turn turn : losers) {
        unuse(hold, turn);
        turn.handle().becomeLost(reason);
      }
      left = remove(hold);
    }
    for (Turn turn : losers) {
      turn.released().complete(Turn.LOST);
      turn.handle().completeLostAtOnce();
      turn.end(Optional.of(reason));
    }
    left.forEach(this::askAgain);
  }

  /** Who uses it; of one that is lost, nobody. */
  synchronized List<Turn> usersOf(KeptHold hold) {
    return List.copyOf(hold.users);
  }

  /** Looks again when it may have been unused for too long; one timer does, however often used. */
  private void time(KeptHold hold, long now) {
    long due = now + hold.keepNanos;
    if (hold.timer.isPresent() && hold.timerNanos - due <= 0) {
      return;
    }
    hold.timer.ifPresent(Loop.Timer::cancel);
    hold.timerNanos = due;
    hold.timer = Optional.of(loop.schedule(hold.keepNanos, () -> onTimer(hold)));
  }

  private void onTimer(KeptHold hold) {
    Runnable next = KeptLocks::nothing;
    synchronized (this) {
      hold.timer = Optional.empty();
      if (hold.idle) {
        long now = loop.nanos();
        long left = hold.unusedSinceNanos + hold.keepNanos - now;
        if (left <= 0) {
          next = letGo(hold, KeptLocks::nothing);
        } else {
          hold.timerNanos = now + left;
          hold.timer = Optional.of(loop.schedule(left, () -> onTimer(hold)));
        }
      }
    }
    next.run();
  }

  /** Runs it as a task of the loop; of one that has ended, here. */
  private void onLoop(Runnable task) {
    if (!loop.executeIfRunning(task)) {
      task.run();
    }
  }
}
