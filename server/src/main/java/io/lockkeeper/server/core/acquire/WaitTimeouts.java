package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import java.time.Duration;
import java.util.Optional;

/** The clocks of acquisitions that wait, and of those whose stream has gone. */
public final class WaitTimeouts {

  /** How long a request that may not wait lasts at most, when ZooKeeper does not answer. */
  private static final long TRY_BOUND_NANOS = 5_000_000_000L;

  /** How old a place may be that is told unasked. */
  static final long PLACES_NANOS = 100_000_000L;

  private final CoreState core;
  private final Views views;
  private final AcquisitionLifecycle lifecycle;

  public WaitTimeouts(CoreState core, Views views, AcquisitionLifecycle lifecycle) {
    this.core = core;
    this.views = views;
    this.lifecycle = lifecycle;
  }

  /** Starts the clocks of an acquisition that is asked for now. */
  public void arm(Acquisition acquisition) {
    limit(acquisition, acquisition.command().waitTimeout(), core.now);
    armPosition(acquisition);
  }

  /** Has an acquisition wait so long at most, counted from a time that may be some while ago. */
  void limit(Acquisition acquisition, Optional<Duration> waitTimeout, long fromNanos) {
    waitTimeout
        .map(timeout -> timeout.isZero() ? TRY_BOUND_NANOS : timeout.toNanos())
        .ifPresent(
            nanos ->
                acquisition
                    .timers()
                    .waitsUntil(
                        core.timers,
                        core.timers.at(
                            fromNanos + nanos,
                            () ->
                                lifecycle.expireWait(
                                    acquisition,
                                    Notice.RefusalReason.TIMED_OUT,
                                    "not granted within the wait timeout"
                                        + views
                                            .whyFrozen(acquisition)
                                            .map(why -> ": " + why)
                                            .orElse("")))));
  }

  private void armPosition(Acquisition acquisition) {
    acquisition
        .command()
        .positionInterval()
        .ifPresent(
            interval ->
                acquisition
                    .timers()
                    .positionAt(
                        core.timers.at(
                            core.now + interval.toNanos(), () -> positionDue(acquisition))));
  }

  private void positionDue(Acquisition acquisition) {
    if (!acquisition.state().isWaiting()) {
      return;
    }
    if (acquisition.wasPlaced() && core.mirror.isCurrent()) {
      Notice.Position position = new Notice.Position(views.recentPlaces(acquisition, PLACES_NANOS));
      int ahead = Notice.Place.most(position.places());
      if (acquisition.moved(ahead)) {
        lifecycle.tell(acquisition, position);
      }
    }
    armPosition(acquisition);
  }

  /** Gives an acquisition without its stream a while in which the same request may come again. */
  public void linger(Acquisition acquisition) {
    linger(acquisition, core.now + core.settings.linger().toNanos());
  }

  /** Withdraws the request of an acquisition without its stream at that time. */
  void linger(Acquisition acquisition, long untilNanos) {
    acquisition.timers().lingersUntil(core.timers, untilNanos, () -> lingerDue(acquisition));
  }

  /** What was granted ahead, and nobody has come for, has been given back elsewhere. */
  void giveBackUnclaimed(Acquisition acquisition) {
    if (isGrantedBy(Hold.Proof.AHEAD, acquisition)
        && acquisition.target().isEmpty()
        && acquisition.state().isLive()) {
      lifecycle.giveBack(acquisition);
    }
  }

  private static boolean isGrantedBy(Hold.Proof proof, Acquisition acquisition) {
    return acquisition.holds().stream().anyMatch(hold -> hold.isGrantedBy(proof));
  }

  private void lingerDue(Acquisition acquisition) {
    // Who names its token was granted it elsewhere, and knows.
    boolean known = acquisition.heard() || isGrantedBy(Hold.Proof.CLIENT, acquisition);
    boolean unheardGrant = acquisition.state().isHeld() && !known;
    boolean waits = acquisition.state().isWaiting();
    if (acquisition.target().isEmpty() && waits && views.mayHoldUnseen(acquisition)) {
      linger(acquisition);
    } else if (acquisition.target().isEmpty() && (waits || unheardGrant)) {
      lifecycle.abandon(acquisition);
    }
  }
}
