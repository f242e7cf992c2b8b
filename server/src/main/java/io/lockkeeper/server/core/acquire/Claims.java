package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.session.LockSession;
import io.lockkeeper.server.core.session.SessionPool;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AcquisitionEvent;
import io.lockkeeper.server.core.state.AdoptedState;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Requests of clients that name the tokens of an acquisition that waits here. Such a client holds
 * the locks if another coordinator granted them. Anybody can compute a token, so {@link Grants}
 * decides by the queue. A claim is open until nobody can rely on the former coordinator any more,
 * neither for the request nor for what is ahead of it; then it is lost. Without a takeover it means
 * nothing.
 */
public final class Claims {

  /** The interval of looking again at a claim that cannot be decided; it doubles each time. */
  private static final long AGAIN_NANOS = 200_000_000L;

  private static final long MAX_AGAIN_NANOS = 10 * AGAIN_NANOS;

  private final CoreState core;
  private final SessionPool pool;
  private final Views views;
  private final AcquisitionLifecycle lifecycle;
  private final Grants grants;

  public Claims(
      CoreState core,
      SessionPool pool,
      Views views,
      AcquisitionLifecycle lifecycle,
      Grants grants) {
    this.core = core;
    this.pool = pool;
    this.views = views;
    this.lifecycle = lifecycle;
    this.grants = grants;
  }

  /** The client of an acquisition that waits here names its tokens. */
  public void onClaimed(Acquisition acquisition) {
    if (acquisition.adoptedState().filter(AdoptedState::claim).isPresent()) {
      long awakeAt = acquisition.lease().awakeAtNanos();
      long from = awakeAt - core.now > 0 ? awakeAt : core.now;
      // A peer may have taken over what is ahead a little later, and keep it that much longer.
      decideAt(acquisition, from + core.settings.linger().toNanos(), AGAIN_NANOS);
    }
    // If another coordinator has the session, the grant is its own: find that out.
    session(acquisition).ifPresent(session -> pool.ask(session, () -> {}, () -> {}));
  }

  private Optional<LockSession> session(Acquisition acquisition) {
    return pool.find(acquisition.lease().session());
  }

  private void decideAt(Acquisition acquisition, long atNanos, long pause) {
    acquisition
        .timers()
        .waitsUntil(core.timers, core.timers.at(atNanos, () -> decide(acquisition, pause)));
  }

  private void decide(Acquisition acquisition, long pause) {
    grants.decide(acquisition);
    if (!acquisition.state().isWaiting()) {
      return;
    }
    Runnable again =
        () -> decideAt(acquisition, core.now + pause, Math.min(2 * pause, MAX_AGAIN_NANOS));
    Optional<LockSession> session = session(acquisition);
    // The queue does not show who holds while it is not up to date, or during a lock delay.
    if (session.isEmpty()
        || !core.mirror.isCurrent()
        || views.isDelayed(acquisition)
        || isBehindReleased(acquisition)) {
      again.run();
    } else {
      pool.ask(session.get(), () -> lose(acquisition), again);
    }
  }

  /**
   * Returns whether an entry ahead is about to be deleted, or may have been released at the former
   * coordinator without its deletion being committed. Such an entry goes when its client repeats
   * the release, or after its own grace, which can end later than that of the claim.
   */
  private boolean isBehindReleased(Acquisition acquisition) {
    return acquisition.holds().stream()
        .flatMap(hold -> hold.placeIn(core.mirror).stream().flatMap(place -> before(hold, place)))
        .flatMap(other -> Acquisition.of(other).stream())
        .anyMatch(other -> !other.state().isLive() || mayHaveBeenReleased(other));
  }

  private Stream<Entry> before(Hold hold, Entry place) {
    return core.mirror.queue(hold.lock()).orElseThrow().before(place).stream();
  }

  private static boolean mayHaveBeenReleased(Acquisition acquisition) {
    return acquisition
        .adoptedState()
        .filter(adoptedState -> !adoptedState.isAwake() && !adoptedState.isRepeated())
        .isPresent();
  }

  private void lose(Acquisition acquisition) {
    if (acquisition.state().isWaiting()) {
      Notice.Lost lost =
          new Notice.Lost(Notice.LossReason.REMOVED, "another client is ahead in the queue");
      lifecycle.apply(acquisition, new AcquisitionEvent.TakenAway(lost));
    }
  }
}
