package io.lockkeeper.client.internal.acquisition;

import io.lockkeeper.client.LockGrant;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockListener;
import io.lockkeeper.client.LockLostException;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.ReleaseRequest;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.loop.ResettableTimer;
import io.lockkeeper.client.internal.protocol.LockNames;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.client.internal.protocol.SessionRequests;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.Jeopardy;
import io.lockkeeper.v1.ReleaseRequested;
import io.lockkeeper.v1.SessionRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * What one acquisition holds, from the grant to its release or loss: confirmed by the server of the
 * present stream or still unconfirmed after a resume, and ended by {@link LockRequest#maxHold},
 * counted from the receipt of the grant. On the client's loop only.
 *
 * <p>When an owner acquires a lock that it holds already, the new level is nested in the hold
 * before it. The end of a limited hold is also the end of the levels nested in it.
 */
public final class HoldState {

  /** The warning comes when a fifth is left, unless the client has its own, and a third at most. */
  private static final int WARNING_PART = 5;

  private static final int LONGEST_WARNING_PART = 3;

  /** The shortest {@link LockRequest#maxHold} that a request may have. */
  private static final Duration SHORTEST_LIMIT = Duration.ofMillis(100);

  private final Acquisition acquisition;
  private final LockRequest request;
  private final ClientContext context;
  private final SessionLink session;
  private final HolderCalls calls;
  private final Optional<Keeper> keeper;
  private List<Loop.Timer> limitTimers = List.of();
  private List<HoldState> nested = List.of();
  private List<HoldState> outer = List.of();
  private Optional<GrantedHandle> handle = Optional.empty();
  private final ResettableTimer jeopardy;
  private boolean confirmed = true;
  private boolean lossTold;
  private boolean contentionTold;
  private long awaySinceNanos;

  HoldState(
      Acquisition acquisition,
      ClientContext context,
      SessionLink session,
      Optional<Keeper> keeper) {
    this.keeper = keeper;
    this.acquisition = acquisition;
    this.request = acquisition.request();
    this.context = context;
    this.session = session;
    this.calls = new HolderCalls(acquisition.names(), context, session);
    this.jeopardy = new ResettableTimer(context.loop());
  }

  /** The locks are granted. */
  LockHandle begin(Granted granted) {
    List<LockGrant> grants = Protos.toGrants(granted);
    // Only an owner adds levels to a hold.
    outer = request.owner().isEmpty() ? List.of() : session.limitedHolds().of(grants);
    GrantedHandle mine =
        new GrantedHandle(
            acquisition,
            context,
            grants,
            session.validity(),
            limitFromNow(),
            outer.stream().flatMap(hold -> hold.handle.stream()).toList());
    handle = Optional.of(mine);
    confirmed = true;
    calls.resume();
    outer.forEach(hold -> hold.nest(this));
    if (request.maxHold().isPresent()) {
      session.limitedHolds().add(this, grants);
      startLimit(request.maxHold().get());
    }
    if (request.listener() != LockListener.NONE) {
      context
          .callbacks()
          .run(
              () -> {
                if (!acquisition.isUnwanted()) {
                  request.listener().onGranted(mine);
                }
              });
    }
    return mine;
  }

  private void nest(HoldState inner) {
    if (nested.isEmpty()) {
      nested = new ArrayList<>();
    }
    nested.add(inner);
  }

  private OptionalLong limitFromNow() {
    return request
        .maxHold()
        .map(limit -> OptionalLong.of(context.loop().nanos() + limit.toNanos()))
        .orElse(OptionalLong.empty());
  }

  private void startLimit(Duration maxHold) {
    Loop loop = context.loop();
    long nanos = maxHold.toNanos();
    long wanted =
        context.settings().expiryWarning().map(Loop::toNanos).orElse(nanos / WARNING_PART);
    long warningNanos = Math.min(wanted, nanos / LONGEST_WARNING_PART);
    limitTimers =
        List.of(
            loop.schedule(nanos - warningNanos, () -> onNearLimit(warningNanos)),
            loop.schedule(nanos, this::onLimit));
  }

  private void onNearLimit(long remainingNanos) {
    onAboutToExpire(remainingNanos);
    nested.forEach(hold -> hold.onAboutToExpire(remainingNanos));
  }

  private void onLimit() {
    acquisition.expire(LossReason.MAX_HOLD);
    List.copyOf(nested).forEach(hold -> hold.acquisition.expire(LossReason.MAX_HOLD));
  }

  /** Returns what tells a server that does not know it that the locks are held. */
  SessionRequest repeated() {
    return SessionRequests.hold(
        request,
        acquisition.requestId(),
        context.settings().holder(),
        tokens(handle.map(GrantedHandle::grants).orElse(List.of())),
        limitLeft());
  }

  /** Returns how much of the limit is left; the shortest that a request may have, if it is over. */
  private Optional<Duration> limitLeft() {
    OptionalLong end = handle.map(GrantedHandle::limitNanos).orElse(OptionalLong.empty());
    return end.isEmpty()
        ? Optional.empty()
        : Optional.of(
            Duration.ofNanos(
                Math.max(SHORTEST_LIMIT.toNanos(), end.getAsLong() - context.loop().nanos())));
  }

  /** Returns whether a server grants what is held. */
  boolean isOf(Granted granted) {
    return handle
        .filter(mine -> tokens(mine.grants()).equals(tokens(Protos.toGrants(granted))))
        .isPresent();
  }

  /** Returns the tokens in the order of the request's locks. */
  private List<Long> tokens(List<LockGrant> grants) {
    Map<String, Long> byName =
        grants.stream()
            .collect(Collectors.toMap(LockGrant::name, LockGrant::fencingToken, Math::max));
    return request.locks().stream()
        .flatMap(lock -> Optional.ofNullable(byName.get(lock.name())).stream())
        .toList();
  }

  /** A new stream is open, whose server has not said that the locks are held. */
  void onOpened(long sinceNanos) {
    if (confirmed) {
      awaySinceNanos = sinceNanos;
    }
    confirmed = false;
    calls.pause();
  }

  /** Returns whether the server of the present stream has said that the locks are held. */
  boolean isConfirmed() {
    return confirmed;
  }

  /** A server says that the locks are still held. */
  void onConfirmed() {
    if (!confirmed) {
      confirmed = true;
      calls.resume();
      Duration away = Duration.ofNanos(context.loop().nanos() - awaySinceNanos);
      tell(mine -> request.listener().onResumed(mine, away));
    }
  }

  /** Returns a token of the hold; zero: there is none. */
  long fencingToken() {
    return handle.map(GrantedHandle::fencingToken).orElse(0L);
  }

  /** The caller no longer wants it. */
  void beginRelease() {
    handle.ifPresent(GrantedHandle::beginRelease);
  }

  /** The release is on its way. Until it is confirmed, its limit still ends what is nested. */
  void onReleasing() {
    jeopardy.cancel();
    calls.end(this::released);
    acquisition.telemetry().onEnded(Optional.empty());
  }

  /** The acquisition has ended. */
  void onEnded(boolean released) {
    jeopardy.cancel();
    limitTimers.forEach(Loop.Timer::cancel);
    outer.forEach(hold -> hold.nested.remove(this));
    if (released) {
      handle.ifPresent(GrantedHandle::onReleaseConfirmed);
    }
    if (request.maxHold().isPresent()) {
      handle.ifPresent(mine -> session.limitedHolds().remove(this, mine.grants()));
    }
    acquisition.telemetry().onEnded(Optional.empty());
  }

  /** The locks are not held any more, unless they were released. */
  void onLost(LossReason reason) {
    jeopardy.cancel();
    // Whoever looks at the handle may have found before that a deadline has passed.
    LossReason why = handle.flatMap(mine -> mine.lose(reason)).orElse(reason);
    handle.filter(GrantedHandle::isLost).ifPresent(mine -> tellLost(mine, why));
    calls.end(() -> new LockLostException(LockNames.join(request.locks()), why));
  }

  private void tellLost(GrantedHandle mine, LossReason why) {
    if (!lossTold) {
      lossTold = true;
      mine.completeLostAtOnce();
      keeper.ifPresent(its -> its.onLost(why));
      context
          .callbacks()
          .run(
              () -> {
                mine.completeLost(why);
                request.listener().onLost(mine, why);
              });
      acquisition.telemetry().onEnded(Optional.of(why));
    }
  }

  /** The grant says whether somebody waits already. */
  void onWaiters(Granted granted) {
    int most = 0;
    for (Grant grant : granted.getGrantsList()) {
      most = Math.max(most, grant.getWaiters());
    }
    if (most > 0) {
      onContended(most);
    }
  }

  /** Somebody waits for what is held, or it is frozen, which is told once. */
  void onContended(int waiters) {
    keeper.ifPresent(Keeper::onWanted);
    if (!contentionTold) {
      contentionTold = true;
      tell(mine -> request.listener().onContended(mine, waiters));
    }
  }

  /** Somebody wants the lock. */
  void onReleaseRequested(ReleaseRequested wish) {
    keeper.ifPresent(Keeper::onWanted);
    ReleaseRequest asked = Protos.toReleaseRequest(wish);
    tell(mine -> request.listener().onReleaseRequested(mine, asked));
  }

  /** The server has lost ZooKeeper; each time that it says so, it says for how long it vouches. */
  void onJeopardy(Jeopardy told) {
    keeper.ifPresent(Keeper::onWanted);
    handle.filter(GrantedHandle::isValid).ifPresent(mine -> endanger(mine, told));
  }

  private void endanger(GrantedHandle mine, Jeopardy told) {
    Duration validFor = Protos.toJava(told.getValidFor());
    long validForNanos = Loop.toNanos(validFor);
    boolean wasSafe = !mine.isInJeopardy();
    mine.onJeopardy(context.loop().nanos() + validForNanos);
    jeopardy.set(validForNanos, () -> acquisition.expire(LossReason.DEADLINE_PASSED));
    if (wasSafe) {
      tell(held -> request.listener().onJeopardy(held, shorter(validFor, held.remaining())));
    }
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  /** A jeopardy, if there is one, is over: that extends nothing, the lease's own deadline holds. */
  void onSafe() {
    Optional<GrantedHandle> saved =
        handle.filter(GrantedHandle::isInJeopardy).filter(GrantedHandle::isValid);
    saved.ifPresent(GrantedHandle::onSafe);
    if (saved.isPresent()) {
      jeopardy.cancel();
      tell(mine -> request.listener().onSafe(mine, mine.remaining()));
    }
  }

  /** The client's own deadline is near. */
  public void onAboutToExpire(long remainingNanos) {
    handle.filter(GrantedHandle::isValid).flatMap(mine -> keeper).ifPresent(Keeper::onWanted);
    Duration remaining = Duration.ofNanos(remainingNanos);
    tell(mine -> request.listener().onAboutToExpire(mine, remaining));
  }

  private void tell(Consumer<LockHandle> call) {
    handle
        .filter(GrantedHandle::isValid)
        .ifPresent(mine -> context.callbacks().runIfRoom(() -> call.accept(mine)));
  }

  /** Sends a call of the holder to the server; {@code answer} completes on the loop. */
  void ask(SessionRequest message, CompletableFuture<Void> answer) {
    try {
      handle.ifPresent(GrantedHandle::checkValid);
      calls.add(message, answer);
    } catch (LockLostException | IllegalStateException notHeld) {
      answer.completeExceptionally(notHeld);
    }
  }

  /** Returns the calls of the holder that have no answer. */
  HolderCalls calls() {
    return calls;
  }

  private IllegalStateException released() {
    return new IllegalStateException(
        "lock \"" + LockNames.join(request.locks()) + "\" is not held any more");
  }

  /** The limited holds of one client by what has levels: all levels of one hold share a token. */
  public static final class LimitedHolds {

    private final Map<Level, List<HoldState>> holds = new HashMap<>();

    private record Level(String lock, long token) {
      static Level of(LockGrant grant) {
        return new Level(grant.name(), grant.fencingToken());
      }
    }

    /** Returns those that {@code grants} are nested in. */
    List<HoldState> of(List<LockGrant> grants) {
      return grants.stream()
          .flatMap(grant -> holds.getOrDefault(Level.of(grant), List.of()).stream())
          .distinct()
          .toList();
    }

    private void add(HoldState hold, List<LockGrant> grants) {
      grants.forEach(
          grant -> holds.computeIfAbsent(Level.of(grant), level -> new ArrayList<>(1)).add(hold));
    }

    private void remove(HoldState hold, List<LockGrant> grants) {
      for (LockGrant grant : grants) {
        List<HoldState> left = holds.getOrDefault(Level.of(grant), new ArrayList<>());
        left.remove(hold);
        if (left.isEmpty()) {
          holds.remove(Level.of(grant));
        }
      }
    }
  }
}
