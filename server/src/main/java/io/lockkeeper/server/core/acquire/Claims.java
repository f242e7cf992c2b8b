package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.queue.Admission;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.session.LockSession;
import io.lockkeeper.server.core.session.SessionPool;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AcquisitionEvent;
import io.lockkeeper.server.core.state.AdoptedState;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Requests of clients that name the tokens of an acquisition that waits here. Such a client holds
 * the locks if another coordinator granted them. Anybody can compute a token, so {@link Grants}
 * decides by the queue. A claim is open until the queue confirms it, or until it is known that
 * somebody ahead uses the lock: then it is lost. Without a takeover it means nothing.
 */
public final class Claims {

  /** The interval of looking again at a claim that cannot be decided; it doubles each time. */
  private static final long AGAIN_NANOS = 200_000_000L;

  private static final long MAX_AGAIN_NANOS = 50 * AGAIN_NANOS;

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

  /** The client of an acquisition names its tokens. */
  public void onClaimed(Acquisition acquisition) {
    // Also one that is granted already: Grants asks who ahead has claimed.
    boolean first = acquisition.adoptedState().filter(AdoptedState::claim).isPresent();
    if (!acquisition.state().isWaiting()) {
      return;
    }
    if (first) {
      decideAt(acquisition, acquisition.lease().awakeAtNanos(), AGAIN_NANOS);
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
    if (session.isPresent()
        && core.mirror.isCurrent()
        && !views.isDelayed(acquisition)
        && acquisition.holds().stream().anyMatch(this::isBehindUser)) {
      pool.ask(session.get(), () -> lose(acquisition), again);
    } else {
      again.run();
    }
  }

  /**
   * Returns whether a client ahead uses the lock and excludes this hold. It counts only if it asks
   * for the lock here: otherwise it may have released it at the former coordinator, which did not
   * commit the deletion. Permits do not exclude permits: the limit may have been higher.
   */
  private boolean isBehindUser(Hold hold) {
    Optional<Entry> place = hold.placeIn(core.mirror);
    if (place.isEmpty()) {
      return false;
    }
    List<Entry> users =
        core.mirror.queue(hold.lock()).orElseThrow().before(place.get()).stream()
            .filter(other -> Acquisition.of(other).filter(Claims::isAskedFor).isPresent())
            .toList();
    return !Admission.admits(place.get(), users, OptionalInt.of(Integer.MAX_VALUE));
  }

  private static boolean isAskedFor(Acquisition acquisition) {
    return acquisition.state().isLive() && !acquisition.isUnrepeated();
  }

  private void lose(Acquisition acquisition) {
    if (acquisition.state().isWaiting()) {
      Notice.Lost lost =
          new Notice.Lost(Notice.LossReason.REMOVED, "another client is ahead in the queue");
      lifecycle.apply(acquisition, new AcquisitionEvent.TakenAway(lost));
    }
  }
}
