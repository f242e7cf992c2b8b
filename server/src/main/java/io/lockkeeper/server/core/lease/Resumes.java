package io.lockkeeper.server.core.lease;

import io.lockkeeper.server.core.acquire.AcquisitionLifecycle;
import io.lockkeeper.server.core.acquire.AdoptionGrace;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.session.SessionPool;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Lease;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Attaches streams to leases, and tells them how things stand. */
public final class Resumes {

  private final CoreState core;
  private final SessionPool pool;
  private final AcquisitionLifecycle lifecycle;
  private final Leases leases;
  private final AdoptionGrace grace;

  public Resumes(
      CoreState core,
      SessionPool pool,
      AcquisitionLifecycle lifecycle,
      Leases leases,
      AdoptionGrace grace) {
    this.core = core;
    this.pool = pool;
    this.lifecycle = lifecycle;
    this.leases = leases;
    this.grace = grace;
  }

  /** Makes a stream the one that hears of a lease. */
  public void attach(ClientEvent.AttachLease event) {
    Optional<Lease> found = leases.findOpen(event.lease());
    if (found.isEmpty()) {
      core.fail(event.call(), Failure.Kind.UNKNOWN_LEASE, leases.unknown(event.lease()));
      return;
    }
    Lease lease = found.get();
    if (!lease.hasSecret(event.secretHash())) {
      core.fail(event.call(), Failure.Kind.WRONG_SECRET, "the secret is not the lease's");
      return;
    }
    lease.stream()
        .ifPresent(
            old -> {
              core.streams.remove(old);
              core.emit(new Effect.Supersede(old));
            });
    lease.acquisitions().values().forEach(acquisition -> acquisition.cameBack(core.now));
    grace.attendAll(lease);
    lease.attach(Optional.of(event.stream()));
    core.streams.put(event.stream(), new CoreState.Subscriber.ForLease(lease));
    lease.renew(core.now);
    core.reply(
        event.call(),
        new Answer.LeaseAttached(lease.id(), lease.ttlNanos(), lifecycle.validForNanos(lease)));
    retell(lease, event.stream());
  }

  private void retell(Lease lease, StreamId stream) {
    for (Lease.Ended ended : lease.takeEndingsToTell()) {
      String requestId = ended.command().requestId();
      if (!lease.acquisitions().containsKey(requestId)) {
        core.emit(new Effect.Tell(stream, requestId, ended.sequence(), ended.notice()));
      }
    }
    List<Acquisition> told = new ArrayList<>(lease.acquisitions().values());
    told.removeIf(acquisition -> acquisition.stream().isPresent());
    List<Acquisition> ended =
        told.stream()
            .filter(acquisition -> acquisition.lastNotice().filter(Notice::isFinal).isPresent())
            .toList();
    told.removeAll(ended);
    told.forEach(lifecycle::replay);
    if (!ended.isEmpty()) {
      retellEnded(lease, stream, ended);
    }
  }

  /**
   * The deletions of these are not certain yet: if the session is another's by now, they may be
   * held there.
   */
  private void retellEnded(Lease lease, StreamId stream, List<Acquisition> ended) {
    Runnable replay =
        () ->
            lease.stream()
                .filter(stream::equals)
                .ifPresent(still -> ended.forEach(lifecycle::replay));
    pool.find(lease.session()).ifPresent(session -> pool.ask(session, replay, () -> {}));
  }
}
