package io.lockkeeper.server.rpc.service;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.Coordinator.Attachment;
import io.lockkeeper.server.coordinator.api.Coordinator.OpenedLease;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.Answers;
import io.lockkeeper.server.rpc.call.CallGuard;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.rpc.call.InboundWindow;
import io.lockkeeper.server.rpc.call.OpenStreams;
import io.lockkeeper.server.rpc.call.OutboundStream;
import io.lockkeeper.server.rpc.call.RequestWeights;
import io.lockkeeper.server.rpc.call.RpcStats;
import io.lockkeeper.server.rpc.wire.Fields;
import io.lockkeeper.server.rpc.wire.Messages;
import io.lockkeeper.server.rpc.wire.ProtoDurations;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.RequestReader;
import io.lockkeeper.server.rpc.wire.SessionBatches;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * One session stream: opens or resumes a lease, then hands its requests on.
 *
 * <pre>
 *   silent --open--> opening --attached--> open --half-close, all answered--> ended
 *      |                |                    |---lease ended, superseded, going away--> ended
 *      '--- no open in time, malformed, refused, cancelled ---> ended
 * </pre>
 *
 * <p>While opening, nothing is read and nothing is sent, so that no answer overtakes {@code
 * opened}. However the stream ends, the lease lives on, unless nobody was ever told of it.
 */
final class SessionStream implements StreamObserver<SessionRequest>, OpenStreams.Leavable {

  private final Coordinator coordinator;
  private final String coordinatorId;
  private final GrpcLimits limits;
  private final OpenStreams streams;
  private final ScheduledExecutorService timer;
  private final Access access;
  private final OutboundStream<SessionResponse> out;
  private final InboundWindow inbound;
  private final SessionStreamEvents events;
  private final SessionWatches watches;
  private volatile Optional<Attachment> attachment = Optional.empty();
  private volatile Optional<SessionRequests> requests = Optional.empty();
  private volatile Optional<ScheduledFuture<?>> timeout = Optional.empty();
  // Only the thread that delivers requests touches it.
  private boolean openSeen;
  private volatile boolean batches;
  private volatile boolean chosen;

  SessionStream(
      Coordinator coordinator,
      String coordinatorId,
      ServerCallStreamObserver<SessionResponse> call,
      GrpcLimits limits,
      OpenStreams streams,
      ScheduledExecutorService timer,
      RpcStats stats,
      Access access) {
    this.coordinator = coordinator;
    this.coordinatorId = coordinatorId;
    this.limits = limits;
    this.streams = streams;
    this.timer = timer;
    this.access = access;
    this.out = new OutboundStream<>(call, limits.sessionMessages(), limits.streamBytes());
    this.inbound = new InboundWindow(call, out, limits.sessionUnanswered(), access, timer);
    this.events = new SessionStreamEvents(out, inbound, stats, access.having(Right.READ));
    this.watches = new SessionWatches(coordinator, out, events, limits.sessionWatches(), access);
  }

  /** Waits for the first request. */
  void start() {
    out.cork();
    out.onEnd(this::close);
    out.onRoom(
        () -> {
          watches.ready();
          inbound.readNext();
        });
    streams.add(this, CallGuard.connection(), true);
    inbound.readNext();
  }

  private void cancelTimeout() {
    timeout.ifPresent(scheduled -> scheduled.cancel(false));
  }

  @Override
  public void onNext(SessionRequest request) {
    inbound.received();
    requests.ifPresentOrElse(open -> open.take(request), () -> takeFirst(request));
    inbound.handled();
  }

  private void takeFirst(SessionRequest request) {
    try {
      if (!request.hasOpen() || openSeen) {
        throw Fields.invalid("", "must be the first request of a session");
      }
      openSeen = true;
      open(request.getOpen());
    } catch (RuntimeException e) {
      out.fail(Statuses.of(e).inField("open"));
    }
  }

  private void open(OpenSession open) {
    batches = open.getBatches();
    if (!open.getLeaseId().isEmpty()) {
      RequestReader.Resumption resumption = RequestReader.toResumption(open);
      attach(resumption.lease(), resumption.secret(), Optional.empty());
      return;
    }
    RequestReader.NewLease wanted =
        RequestReader.toNewLease(open, limits.defaultTtl(), access.peer());
    access.countRequest(RequestWeights.OPEN_LEASE);
    access.requireTtl(wanted.ttl());
    Answers.deliver(
        coordinator.openLease(wanted.ttl(), wanted.holder(), wanted.secret()),
        opened -> {
          chosen = wanted.secret().isPresent();
          attach(opened.lease().lease(), opened.secret(), Optional.of(opened));
        },
        out::fail);
  }

  private void attach(LeaseId lease, String secret, Optional<OpenedLease> fresh) {
    if (out.isEnded()) {
      forget(fresh);
      return;
    }
    Attachment attached = coordinator.attach(lease, secret, events);
    attachment = Optional.of(attached);
    Answers.deliver(
        attached.attached(),
        answer -> opened(attached, answer, fresh),
        refusal -> {
          out.fail(refusal);
          forget(fresh);
        });
    if (out.isEnded()) {
      attached.detach();
    }
  }

  private void opened(
      Attachment attached, Answer.LeaseAttached answer, Optional<OpenedLease> fresh) {
    if (out.isEnded()) {
      forget(fresh);
      return;
    }
    requests =
        Optional.of(
            new SessionRequests(
                coordinator, answer.lease(), attached, out, inbound, events, watches, access));
    if (batches) {
      out.pack(SessionBatches::pack);
    }
    events.opened(answer.epoch());
    out.startWith(
        SessionResponse.newBuilder()
            .setEpoch(answer.epoch())
            .setOpened(
                SessionOpened.newBuilder()
                    .setLeaseId(answer.lease().toString())
                    .setLeaseSecret(chosen ? "" : fresh.map(OpenedLease::secret).orElse(""))
                    .setLeaseTag(answer.lease().tag())
                    .setTtl(ProtoDurations.ofNanos(answer.ttlNanos()))
                    .setValidFor(ProtoDurations.ofNanos(answer.validForNanos()))
                    .setKeepAliveInterval(Messages.keepAliveInterval(answer.validForNanos()))
                    .setCoordinatorId(coordinatorId)
                    .setResumed(fresh.isEmpty())
                    .setBatches(batches))
            .build());
    inbound.open();
    inbound.answered();
  }

  /**
   * Closes a lease whose opener has gone before it was told: nobody can ever use it, unless the
   * client has chosen its secret, and comes again.
   */
  private void forget(Optional<OpenedLease> fresh) {
    fresh
        .filter(lease -> !chosen)
        .ifPresent(
            lease ->
                Answers.deliver(
                    coordinator.closeLease(lease.lease().lease()), closed -> {}, refusal -> {}));
  }

  private void close() {
    streams.remove(this);
    cancelTimeout();
    watches.closeAll();
    attachment.ifPresent(Attachment::detach);
  }

  @Override
  public void onError(Throwable cause) {
    // A cancelled call: the outbound side has heard of it too, and cleans up.
    close();
  }

  @Override
  public void onCompleted() {
    if (!openSeen) {
      out.fail(Statuses.of(Fields.invalid("open", "must be the first request of a session")));
      return;
    }
    timeout =
        Optional.of(
            timer.schedule(out::complete, Coordinator.ANSWER_SECONDS + 5L, TimeUnit.SECONDS));
    if (out.isEnded()) {
      cancelTimeout();
    }
    inbound.senderIsDone();
  }

  @Override
  public void goAway(Refusal why) {
    events.tellGoingAway(why);
  }
}
