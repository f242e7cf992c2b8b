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
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * What one request to the server holds: used by one task after the other, or unused. Its state is
 * guarded by {@link KeptLocks}. What it is told it tells those who use it at that moment.
 */
final class KeptHold implements Keeper, LockListener {

  private final KeptLocks locks;
  private final Turn asker;
  final Terms terms;

  /** Who uses it: nobody, one, or several of one owner. */
  final List<Turn> users = new ArrayList<>(1);

  private Optional<PromptHandle> handle = Optional.empty();

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

  KeptHold(KeptLocks locks, Turn asker) {
    this.locks = locks;
    this.asker = asker;
    this.terms = asker.terms();
  }

  /** The server has granted it. */
  void begin(PromptHandle granted) {
    handle = Optional.of(granted);
  }

  PromptHandle handle() {
    return handle.orElseThrow();
  }

  /** Returns by what it was asked for. */
  Acquisition acquisition() {
    return asker.acquisition.orElseThrow();
  }

  boolean isUsedBy(String owner) {
    return !owner.isEmpty() && !users.isEmpty() && users.get(0).owner().equals(owner);
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
    for (Turn user : locks.usersOf(this)) {
      call.accept(user.request().listener(), user.handle());
    }
  }

  @Override
  public void onPlaces(List<QueuePlace> places) {
    asker.request().listener().onPlaces(places);
  }

  @Override
  public void onReleaseRequested(LockHandle mine, ReleaseRequest request) {
    tell((listener, its) -> listener.onReleaseRequested(its, request));
  }

  @Override
  public void onContended(LockHandle mine, int waiters) {
    tell((listener, its) -> listener.onContended(its, waiters));
  }

  @Override
  public void onJeopardy(LockHandle mine, Duration validFor) {
    tell((listener, its) -> listener.onJeopardy(its, validFor));
  }

  @Override
  public void onSafe(LockHandle mine, Duration validFor) {
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
