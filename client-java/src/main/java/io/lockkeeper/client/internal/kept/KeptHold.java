package io.lockkeeper.client.internal.kept;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockListener;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.QueuePlace;
import io.lockkeeper.client.ReleaseRequest;
import io.lockkeeper.client.internal.acquisition.Acquisition;
import io.lockkeeper.client.internal.acquisition.Keeper;
import io.lockkeeper.client.internal.acquisition.PromptHandle;
import io.lockkeeper.client.internal.loop.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * What one request to the server holds: used by one task after the other, or unused. Its state is
 * guarded by {@link KeptLocks}. What it is told it tells those who use it at that moment.
 */
final class KeptHold implements Keeper, LockListener {

  private final KeptLocks locks;
  final Terms terms;

  /** Who uses it: nobody, one, or several of one owner. */
  final List<Turn> users = new ArrayList<>(1);

  private Optional<PromptHandle> handle = Optional.empty();

  /** Who has asked for it, until it is granted. */
  private volatile Optional<Turn> asker;

  private Optional<Acquisition> acquisition = Optional.empty();

  /** What whoever uses it next must know: the last of each kind. */
  final Map<Kind, BiConsumer<LockListener, LockHandle>> told = new EnumMap<>(Kind.class);

  /** Whether anybody has used it. */
  boolean used;

  /** Whether it is kept, and nobody uses it. */
  boolean idle;

  /** Whether it is not to be kept any more. Stays so. */
  boolean wanted;

  /** Until when those who waited before go first; counts once it is wanted. */
  long handOnUntilNanos;

  /** Whether it is released or lost. */
  boolean gone;

  /** Since when it is unused, and how long it may be. */
  long unusedSinceNanos;

  long keepNanos;

  /** Looks whether it has been unused for too long, and when. */
  Optional<Loop.Timer> timer = Optional.empty();

  long timerNanos;

  /** What one who is handed a lock hears of it, since the others have heard it before. */
  enum Kind {
    CONTENDED,
    RELEASE_REQUESTED,
    JEOPARDY
  }

  KeptHold(KeptLocks locks, Turn asker) {
    this.locks = locks;
    this.asker = Optional.of(asker);
    this.terms = asker.terms();
  }

  /** This is how it is asked for. */
  void asks(Acquisition request) {
    acquisition = Optional.of(request);
  }

  /** The server has granted it. */
  void begin(PromptHandle granted) {
    handle = Optional.of(granted);
    asker = Optional.empty();
  }

  PromptHandle handle() {
    return handle.orElseThrow();
  }

  /** Returns by what it was asked for. */
  Acquisition acquisition() {
    return acquisition.orElseThrow();
  }

  /** Returns whether {@code owner} uses it and may once more: of permits, each takes its own. */
  boolean isSharedBy(String owner) {
    return terms.isReentrant()
        && !owner.isEmpty()
        && !users.isEmpty()
        && users.get(0).owner().equals(owner);
  }

  @Override
  public void onWanted() {
    locks.onWanted(this);
  }

  @Override
  public void onLost(LossReason reason) {
    locks.onLost(this, reason);
  }

  private void tell(BiConsumer<LockListener, LockHandle> call) {
    locks.usersOf(this).forEach(user -> user.tell(call));
  }

  private void tell(Kind kind, BiConsumer<LockListener, LockHandle> call) {
    locks.remember(this, kind, call).forEach(user -> user.tell(call));
  }

  @Override
  public void onPlaces(List<QueuePlace> places) {
    asker.ifPresent(turn -> turn.request().listener().onPlaces(places));
  }

  @Override
  public void onReleaseRequested(LockHandle mine, ReleaseRequest request) {
    tell(Kind.RELEASE_REQUESTED, (listener, its) -> listener.onReleaseRequested(its, request));
  }

  @Override
  public void onContended(LockHandle mine, int waiters) {
    tell(Kind.CONTENDED, (listener, its) -> listener.onContended(its, waiters));
  }

  @Override
  public void onJeopardy(LockHandle mine, Duration validFor) {
    tell(Kind.JEOPARDY, (listener, its) -> listener.onJeopardy(its, its.remaining()));
  }

  @Override
  public void onSafe(LockHandle mine, Duration validFor) {
    locks.forget(this, Kind.JEOPARDY);
    tell((listener, its) -> listener.onSafe(its, validFor));
  }

  @Override
  public void onResumed(LockHandle mine, Duration away) {
    tell((listener, its) -> listener.onResumed(its, away));
  }

  @Override
  public void onAboutToExpire(LockHandle mine, Duration remaining) {
    tell((listener, its) -> listener.onAboutToExpire(its, remaining));
  }
}
