package io.lockkeeper.client.internal.kept;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockListener;
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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
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

  public KeptLocks(ClientContext context, Session session) {
    this.context = context;
    this.session = session;
    this.loop = context.loop();
  }

  /**
   * Takes a request for locks that may be kept.
   *
   * @param callerWaits whether the caller waits for the result, and nothing else hangs on it: with
   *     a listener or a future that may be others' code, which must not run in his thread
   * @throws IllegalStateException if the client is closed
   */
  public Pending submit(LockRequest request, boolean callerWaits) {
    boolean alone = callerWaits && request.listener() == LockListener.NONE;
    Executor completing = alone ? Runnable::run : this::apart;
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
      boolean level = terms.equals(Optional.of(hold.terms)) && hold.terms.isReentrant();
      if (!level && Exclusion.between(hold.terms.locks(), request.locks())) {
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
            + "' has it already, one of the two is kept, and they are no levels of one hold",
        List.of());
  }

  private Runnable begin(Turn turn, Executor completing) {
    Optional<NotAcquiredException> refusal = refusal(turn.request(), Optional.of(turn.terms()));
    if (refusal.isPresent()) {
      return refused(turn, refusal.get(), completing);
    }
    Line line = lines.computeIfAbsent(turn.terms(), terms -> new Line());
    Optional<KeptHold> usable = line.usableBy(turn.owner());
    if (usable.isPresent()) {
      use(usable.get(), turn);
      return () -> completing.execute(turn::complete);
    }
    if (!turn.terms().isExclusive()) {
      turn.state = Turn.State.ASKING;
      dropIfEmpty(turn.terms(), line);
      return () -> ask(turn);
    }
    return queue(line, turn, completing);
  }

  /** Has it wait for others in the client; it asks the server if there are none. */
  private Runnable queue(Line line, Turn turn, Executor completing) {
    Optional<Long> limit = turn.request().waitLimit().map(Loop::toNanos);
    boolean alone = !line.isKept() && line.asker.isEmpty();
    if (alone) {
      line.asker = Optional.of(turn);
      turn.state = Turn.State.ASKING;
      return () -> ask(turn);
    }
    if (limit.filter(nanos -> nanos == 0).isPresent()) {
      return refused(turn, timedOut(turn), completing);
    }
    if (waiting >= MOST_WAITING) {
      return refused(turn, tooMany(turn), completing);
    }
    turn.state = Turn.State.WAITING;
    waiting++;
    int ahead = line.queue(turn);
    turn.limit = limit.map(nanos -> loop.schedule(nanos, () -> onWaitOver(turn)));
    return () -> context.callbacks().runIfRoom(() -> turn.tellPlaces(ahead));
  }

  private static LockkeeperException tooMany(Turn turn) {
    return new LockkeeperException(
        LockNames.quoted(turn.names())
            + ": "
            + MOST_WAITING
            + " requests wait in this client: make fewer at a time");
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
    turn.handle().begin(hold.handle(), !hold.used, hold.users.size());
    hold.used = true;
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
      hold.asks(acquisition);
      turn.acquisition = Optional.of(acquisition);
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
    if (turn.isUnwanted()) { // Since before it was known by what it asks.
      acquisition.becomeUnwanted();
      onLoop(acquisition::withdraw);
    }
  }

  /** Asks on behalf of one who waited until now; of a client that is closed, all have waited. */
  private void askNext(Optional<Turn> first) {
    Optional<Turn> next = first;
    while (next.isPresent() && !askOnLoop(next.get())) {
      Turn turn = next.get();
      next = isOver(turn);
      turn.fail(new LockkeeperException(LockNames.quoted(turn.names()) + ": " + Session.CLOSED));
      turn.released().complete(Turn.NOTHING_LEFT);
    }
  }

  private boolean askOnLoop(Turn turn) {
    return loop.executeIfRunning(
        () -> {
          try {
            ask(turn);
          } catch (IllegalStateException closed) {
            LOG.atDebug().log("The client is closed, as the request's result says");
          }
        });
  }

  private void onGranted(Turn turn, KeptHold hold, PromptHandle handle) {
    List<Runnable> together;
    synchronized (this) {
      hold.begin(handle);
      Line line = lines.computeIfAbsent(hold.terms, terms -> new Line());
      line.granted(hold);
      use(hold, turn);
      together = withSameOwner(hold, turn, line);
    }
    turn.complete();
    together.forEach(Runnable::run);
  }

  /** Requests that its owner made at the same time are levels of its own, or would wait for it. */
  private List<Runnable> withSameOwner(KeptHold hold, Turn user, Line line) {
    List<Runnable> together = new ArrayList<>(0);
    Optional<Turn> next = line.waitingOf(user.owner());
    while (next.isPresent()) {
      Turn other = next.get();
      leaveQueue(other);
      if (hold.terms.isReentrant()) {
        use(hold, other);
        together.add(other::complete);
      } else {
        together.add(refused(other, wouldDeadlock(other.request()), Runnable::run));
      }
      next = line.waitingOf(user.owner());
    }
    return together;
  }

  private void onNotGranted(Turn turn, Acquisition acquisition, Throwable why) {
    Optional<Turn> next = isOver(turn);
    turn.fail(why);
    relay(acquisition, turn);
    askNext(next);
  }

  /** It asks no more, without having been granted anything; returns who asks next. */
  private synchronized Optional<Turn> isOver(Turn turn) {
    turn.state = Turn.State.RELEASED;
    Line line = lines.get(turn.terms());
    if (line == null || !line.asker.equals(Optional.of(turn))) {
      return Optional.empty();
    }
    line.asker = Optional.empty();
    return nextAsker(turn.terms(), line);
  }

  /** Returns who asks the server now; one who does waits in the client no more. */
  private Optional<Turn> nextAsker(Terms terms, Line line) {
    Optional<Turn> next = line.nextAsker();
    if (next.isPresent()) {
      waiting--;
      next.get().limit.ifPresent(Loop.Timer::cancel);
      next.get().state = Turn.State.ASKING;
    }
    dropIfEmpty(terms, line);
    return next;
  }

  private void dropIfEmpty(Terms terms, Line line) {
    if (line.isEmpty()) {
      lines.remove(terms);
    }
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
    if (line != null && line.remove(turn)) {
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
    if (isToTellEnd(turn)) {
      turn.tellEnd(Optional.empty());
    }
    next.run();
  }

  /**
   * Its grant is told now.
   *
   * @return what else it is to hear; if it has ended meanwhile, that
   */
  List<BiConsumer<LockListener, LockHandle>> granted(Turn turn) {
    Optional<LossReason> lost;
    synchronized (this) {
      turn.grantTold = true;
      if (!turn.ended) {
        return List.copyOf(turn.hold.orElseThrow().told.values());
      }
      lost = turn.handle().lostReason();
    }
    turn.tellEnd(lost);
    return List.of();
  }

  /** It has ended; returns whether that is to be told now, which it is once. */
  private synchronized boolean isToTellEnd(Turn turn) {
    boolean first = !turn.ended;
    turn.ended = true;
    return first && turn.grantTold;
  }

  /** Hands on what a user gives back, keeps it, or lets go of it; returns what is left to do. */
  private Runnable pass(KeptHold hold, Turn turn) {
    unuse(hold, turn);
    int left = hold.users.size();
    if (left > 0) {
      return () -> turn.released().complete(Turn.oneOf(left));
    }
    long now = loop.nanos();
    Line line = lines.get(hold.terms);
    if (line != null
        && !line.waiting.isEmpty()
        && (!hold.wanted || hold.handOnUntilNanos - now > 0)) {
      Turn next = line.waiting.element();
      leaveQueue(next);
      use(hold, next);
      List<Runnable> together = withSameOwner(hold, next, line);
      return () -> {
        turn.released().complete(Turn.GIVEN_BACK);
        apart(next::complete);
        together.forEach(this::apart);
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
    Optional<Turn> next = remove(hold);
    return () -> {
      whenReleasing.run();
      onLoop(hold.acquisition()::withdraw);
      askNext(next);
    };
  }

  /** Forgets a hold; returns who asks the server next, of those who waited for it. */
  private Optional<Turn> remove(KeptHold hold) {
    hold.gone = true;
    unused -= hold.idle ? 1 : 0;
    hold.idle = false;
    hold.timer.ifPresent(Loop.Timer::cancel);
    Line line = lines.get(hold.terms);
    if (line == null) {
      return Optional.empty();
    }
    line.holds.remove(hold);
    line.sendBehind();
    return nextAsker(hold.terms, line);
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
    Optional<Turn> next = Optional.empty();
    synchronized (this) {
      Line line = lines.get(hold.terms);
      if (!hold.gone && line != null) {
        line.sendBehind();
        next = nextAsker(hold.terms, line);
      }
    }
    askNext(next);
  }

  void onLost(KeptHold hold, LossReason reason) {
    List<Turn> losers;
    Optional<Turn> next;
    synchronized (this) {
      if (hold.gone) {
        return; // It was on its way back.
      }
      losers = List.copyOf(hold.users);
      for (Turn turn : losers) {
        unuse(hold, turn);
        turn.handle().becomeLost(reason);
      }
      next = remove(hold);
    }
    for (Turn turn : losers) {
      turn.released().complete(Turn.LOST);
      turn.handle().completeLostAtOnce();
      if (isToTellEnd(turn)) {
        turn.tellEnd(Optional.of(reason));
      }
    }
    askNext(next);
  }

  /** Who uses it and knows; of one that is lost, nobody. */
  synchronized List<Turn> usersOf(KeptHold hold) {
    return hold.users.stream().filter(turn -> turn.grantTold).toList();
  }

  /** Whoever uses it later is to hear this, too; returns who uses it now. */
  synchronized List<Turn> remember(
      KeptHold hold, KeptHold.Kind kind, BiConsumer<LockListener, LockHandle> call) {
    hold.told.put(kind, call);
    return usersOf(hold);
  }

  /** That is over. */
  synchronized void forget(KeptHold hold, KeptHold.Kind kind) {
    hold.told.remove(kind);
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

  /**
   * Runs what completes a future of the user's: not in his thread where callbacks run where they
   * arise, or a chain of requests that are granted at once would be one deep recursion.
   */
  private void apart(Runnable task) {
    if (!loop.executeApart(task)) {
      task.run();
    }
  }

  /** Runs it as a task of the loop; of one that has ended, here. */
  private void onLoop(Runnable task) {
    if (!loop.executeIfRunning(task)) {
      task.run();
    }
  }
}
