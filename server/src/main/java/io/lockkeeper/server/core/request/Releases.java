package io.lockkeeper.server.core.request;

import io.lockkeeper.server.core.acquire.AcquisitionLifecycle;
import io.lockkeeper.server.core.acquire.AdoptionGrace;
import io.lockkeeper.server.core.acquire.Views;
import io.lockkeeper.server.core.acquire.WaitTimeouts;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.session.LockSession;
import io.lockkeeper.server.core.session.SessionPool;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import io.lockkeeper.server.core.state.Lease;
import java.util.Optional;

/**
 * Takes clients' wishes about acquisitions that there are: release, where do I stand, my stream is
 * gone.
 */
public final class Releases {

  private final CoreState core;
  private final Views views;
  private final AcquisitionLifecycle lifecycle;
  private final Leases leases;
  private final WaitTimeouts timeouts;
  private final SessionPool pool;
  private final AdoptionGrace grace;

  public Releases(
      CoreState core,
      Views views,
      AcquisitionLifecycle lifecycle,
      Leases leases,
      WaitTimeouts timeouts,
      AdoptionGrace grace,
      SessionPool pool) {
    this.pool = pool;
    this.timeouts = timeouts;
    this.grace = grace;
    this.core = core;
    this.views = views;
    this.lifecycle = lifecycle;
    this.leases = leases;
  }

  /** Gives back what an acquisition holds, or withdraws it from the queue. */
  public void release(ClientEvent.Release event) {
    Optional<Lease> lease = leases.named(event.lease());
    if (lease.isEmpty() || lease.get().isEnding()) {
      core.reply(event.call(), new Answer.Failed(leases.unknown(event.lease())));
      return;
    }
    Optional<Acquisition> acquisition = grace.find(lease.get(), event.requestId());
    acquisition.ifPresentOrElse(
        known -> release(event, known), () -> releaseAgain(event, lease.get()));
  }

  private void release(ClientEvent.Release event, Acquisition acquisition) {
    if (event.token() != 0 && !hasToken(acquisition, event.token())) {
      core.fail(
          event.call(),
          Failure.Reason.WRONG_TOKEN,
          "fencing token " + event.token() + " is not that of this acquisition");
    } else {
      lifecycle.release(acquisition, event.call());
    }
  }

  private static boolean hasToken(Acquisition acquisition, long token) {
    for (Hold hold : acquisition.holds()) {
      if (hold.hasToken() && hold.token().value() == token) {
        return true;
      }
    }
    return false;
  }

  private void releaseAgain(ClientEvent.Release event, Lease lease) {
    Optional<LockSession> session = pool.find(lease.session());
    if (session.isEmpty()) {
      core.fail(event.call(), Failure.Reason.UNAVAILABLE, CoreState.NO_CONTACT);
      return;
    }
    // Another coordinator may have adopted the lease, and have granted the same request again.
    pool.ask(
        session.get(),
        () ->
            grace
                .find(lease, event.requestId())
                .ifPresentOrElse(
                    repeated -> release(event, repeated), () -> answerEnded(event, lease)),
        () -> core.fail(event.call(), Failure.Reason.MOVED, CoreState.NO_CONTACT));
  }

  private void answerEnded(ClientEvent.Release event, Lease lease) {
    boolean ended = lease.ending(event.requestId()).isPresent();
    if (!ended) {
      // The request itself may still be on its way, on a connection that its client has left.
      lease.rememberEarlyRelease(event.requestId());
    }
    if (ended || lease.isAdopted()) {
      // If it is not known, the coordinator that served the lease before may have released it.
      core.reply(event.call(), new Answer.ReleaseDone(Answer.ReleaseOutcome.ALREADY_RELEASED, 0));
    } else {
      core.fail(event.call(), Failure.Reason.UNKNOWN_ACQUISITION, unknown(event.requestId()));
    }
  }

  static String unknown(String requestId) {
    return "no acquisition with the request_id '" + requestId + "' was made under this lease";
  }

  /** Says where an acquisition stands. */
  public void queryPosition(ClientEvent.QueryPosition event) {
    Optional<Lease> lease = leases.findOpen(event.lease());
    if (lease.isEmpty()) {
      core.reply(event.call(), new Answer.Failed(leases.unknown(event.lease())));
      return;
    }
    Optional<Acquisition> acquisition = grace.find(lease.get(), event.requestId());
    if (acquisition.isEmpty()) {
      core.fail(event.call(), Failure.Reason.UNKNOWN_ACQUISITION, unknown(event.requestId()));
    } else if (!acquisition.get().state().isWaiting()) {
      core.fail(event.call(), Failure.Reason.NOT_WAITING, "the acquisition does not wait");
    } else {
      core.reply(
          event.call(),
          new Answer.PositionTold(new Notice.Position(views.places(acquisition.get()))));
    }
  }

  /**
   * A stream is gone. What was the stream's ends; what is a lease's waits for the same request to
   * come again.
   */
  public void streamClosed(ClientEvent.StreamClosed event) {
    Optional<CoreState.Subscriber> subscriber =
        Optional.ofNullable(core.streams.remove(event.stream()));
    if (subscriber.isEmpty()) {
      return;
    }
    if (subscriber.get() instanceof CoreState.Subscriber.ForLease forLease) {
      forLease.lease().attach(Optional.empty());
    } else if (subscriber.get() instanceof CoreState.Subscriber.ForAcquisition forAcquisition) {
      Acquisition acquisition = forAcquisition.acquisition();
      acquisition.subscribe(Optional.empty());
      if (acquisition.lease().isStream()) {
        leases.end(acquisition.lease(), event.cancelled() ? LeaseEnd.CANCELLED : LeaseEnd.BROKEN);
      } else {
        timeouts.linger(acquisition);
      }
    }
  }
}
