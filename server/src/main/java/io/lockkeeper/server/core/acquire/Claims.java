package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.session.LockSession;
import io.lockkeeper.server.core.session.SessionPool;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AcquisitionEvent;
import io.lockkeeper.server.core.state.AdoptedState;
import io.lockkeeper.server.core.state.CoreState;
import java.util.Optional;

/**
 * Requests of clients that name the tokens of an acquisition that waits here. Such a client holds
 * the locks if another coordinator granted them. Anybody can compute a token, so {@link Grants}
 * decides by the queue. A claim is open until nobody can rely on the former coordinator any more;
 * then it is lost. Without a takeover it means nothing.
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
      long least = core.now + core.settings.linger().toNanos();
      long awakeAt = acquisition.lease().awakeAtNanos();
      decideAt(acquisition, awakeAt - least > 0 ? awakeAt : least, AGAIN_NANOS);
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
    if (session.isEmpty() || !core.mirror.isCurrent() || views.isDelayed(acquisition)) {
      again.run();
    } else {
      pool.ask(session.get(), () -> lose(acquisition), again);
    }
  }

  private void lose(Acquisition acquisition) {
    if (acquisition.state().isWaiting()) {
      Notice.Lost lost =
          new Notice.Lost(Notice.LossReason.REMOVED, "another client is ahead in the queue");
      lifecycle.apply(acquisition, new AcquisitionEvent.TakenAway(lost));
    }
  }
}
