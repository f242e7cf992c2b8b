package io.lockkeeper.server.rpc.service;

import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.Coordinator.Attachment;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.Answers;
import io.lockkeeper.server.rpc.call.InboundWindow;
import io.lockkeeper.server.rpc.call.OutboundStream;
import io.lockkeeper.server.rpc.call.RequestWeights;
import io.lockkeeper.server.rpc.wire.AcquireRequests;
import io.lockkeeper.server.rpc.wire.Fields;
import io.lockkeeper.server.rpc.wire.Messages;
import io.lockkeeper.server.rpc.wire.Notices;
import io.lockkeeper.server.rpc.wire.ProtoDurations;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.RequestReader;
import io.lockkeeper.server.rpc.wire.RevocationRequests;
import io.lockkeeper.server.rpc.wire.SessionBatches;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.CloseSession;
import io.lockkeeper.v1.MetadataUpdated;
import io.lockkeeper.v1.PositionQuery;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.ReleaseAnswered;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.SessionKeepAlive;
import io.lockkeeper.v1.SessionKeptAlive;
import io.lockkeeper.v1.SessionReleased;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionRequest.RequestCase;
import io.lockkeeper.v1.SessionRequestBatch;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.Unwatch;
import io.lockkeeper.v1.UpdateMetadataRequest;
import io.lockkeeper.v1.WatchRequest;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** The requests of an open session stream. One that fails is refused, and the stream goes on. */
final class SessionRequests {

  private final Coordinator coordinator;
  private final LeaseId lease;
  private final Attachment attachment;
  private final OutboundStream<SessionResponse> out;
  private final InboundWindow inbound;
  private final SessionStreamEvents events;
  private final SessionWatches watches;
  private final Access access;

  SessionRequests(
      Coordinator coordinator,
      LeaseId lease,
      Attachment attachment,
      OutboundStream<SessionResponse> out,
      InboundWindow inbound,
      SessionStreamEvents events,
      SessionWatches watches,
      Access access) {
    this.access = access;
    this.coordinator = coordinator;
    this.lease = lease;
    this.attachment = attachment;
    this.out = out;
    this.inbound = inbound;
    this.events = events;
    this.watches = watches;
  }

  /** Takes one request. */
  void take(SessionRequest request) {
    try {
      count(request);
      dispatch(request);
    } catch (RuntimeException e) {
      refuse(request, Statuses.of(e));
    }
  }

  /** What keeps or gives back what is held is never refused, but slows the stream down. */
  private void count(SessionRequest request) {
    if (request.hasBatch()) {
      return; // Each in it counts by itself.
    }
    if (RequestWeights.wants(request)) {
      access.countRequest(RequestWeights.of(request));
    } else {
      access.countKept();
    }
  }

  private void dispatch(SessionRequest request) {
    switch (request.getRequestCase()) {
      case OPEN -> throw Fields.invalid("", "this stream is open already");
      case KEEP_ALIVE -> keepAlive(request, request.getKeepAlive());
      case ACQUIRE -> acquire(request.getAcquire());
      case RELEASE -> release(request, request.getRelease());
      case ANSWER_RELEASE -> answerRelease(request, request.getAnswerRelease());
      case UPDATE_METADATA -> updateMetadata(request, request.getUpdateMetadata());
      case POSITION -> position(request, request.getPosition());
      case WATCH -> watch(request.getWatch());
      case UNWATCH -> unwatch(request, request.getUnwatch());
      case CLOSE -> close(request);
      case BATCH -> batch(request.getBatch());
      case REQUEST_NOT_SET ->
          throw Fields.invalid("request", "must be one of the requests of this server's version");
    }
  }

  private void batch(SessionRequestBatch batch) {
    List<SessionRequest> requests = SessionBatches.toRequests(batch);
    // The message was counted when it came.
    inbound.received(requests.size() - 1);
    coordinator.together(() -> requests.forEach(this::take));
  }

  private void keepAlive(SessionRequest request, SessionKeepAlive keepAlive) {
    answer(
        request,
        coordinator.keepAlive(lease),
        answer -> {
          if (answer instanceof Answer.LeaseRenewed renewed) {
            return SessionResponse.newBuilder()
                .setKeptAlive(
                    SessionKeptAlive.newBuilder()
                        .setNonce(keepAlive.getNonce())
                        .setValidFor(ProtoDurations.ofNanos(renewed.validForNanos()))
                        .setKeepAliveInterval(Messages.keepAliveInterval(renewed.validForNanos())));
          }
          throw new IllegalStateException("no answer to a keep-alive: " + answer.getClass());
        });
  }

  private void acquire(AcquireRequest request) {
    AcquireCommand command = AcquireRequests.toSessionCommand(request);
    access.requireToAcquire(command, true);
    inbound.awaits(command.requestId());
    attachment.acquire(command);
  }

  private void release(SessionRequest request, ReleaseRequest release) {
    RequestReader.NamedRelease wanted = RequestReader.toRelease(release);
    answer(
        request,
        coordinator.release(lease, wanted.requestId(), wanted.token()),
        done ->
            SessionResponse.newBuilder()
                .setReleased(
                    SessionReleased.newBuilder()
                        .setRequestId(wanted.requestId())
                        .setResult(Messages.toReleaseResponse(done))));
  }

  private void answerRelease(SessionRequest request, AnswerReleaseRequest answer) {
    RevocationRequests.HolderReply reply = RevocationRequests.toReply(answer);
    answer(
        request,
        coordinator.answerRelease(lease, reply.requestId(), reply.needs()),
        taken ->
            SessionResponse.newBuilder()
                .setReleaseAnswered(ReleaseAnswered.newBuilder().setRequestId(reply.requestId())));
  }

  private void updateMetadata(SessionRequest request, UpdateMetadataRequest update) {
    RequestReader.Description wanted = RequestReader.toDescription(update);
    access.requireDescribable(wanted.metadata());
    answer(
        request,
        coordinator.updateMetadata(lease, wanted.requestId(), wanted.metadata()),
        updated ->
            SessionResponse.newBuilder()
                .setMetadataUpdated(MetadataUpdated.newBuilder().setRequestId(wanted.requestId())));
  }

  private void position(SessionRequest request, PositionQuery query) {
    String requestId = RequestReader.toRequestId(query);
    answer(
        request,
        coordinator.position(lease, requestId),
        position ->
            SessionResponse.newBuilder()
                .setEvent(
                    Notices.toEvent(requestId, events.epoch(), 0, position, events.readable())));
  }

  private void watch(WatchRequest request) {
    watches.start(request);
    inbound.answered();
  }

  private void unwatch(SessionRequest request, Unwatch unwatch) {
    if (watches.stop(unwatch.getWatchId())) {
      inbound.answered();
    } else {
      refuse(request, Statuses.unknownWatch(unwatch.getWatchId()));
    }
  }

  private void close(SessionRequest request) {
    events.closing();
    Answers.deliver(
        coordinator.closeLease(lease),
        closed -> events.tellEnded(LeaseEnd.CLOSED, ""),
        refusal -> {
          // The lease may have ended meanwhile: only a new stream can tell.
          refuse(request, refusal);
          out.failAfterQueue(refusal);
        });
  }

  private <A> void answer(
      SessionRequest request,
      CompletableFuture<A> future,
      Function<A, SessionResponse.Builder> message) {
    Answers.deliver(
        future,
        answer -> {
          if (answer instanceof Answer.LeaseGone gone) {
            events.tellEnded(gone.end(), "");
          } else {
            events.send(() -> message.apply(answer));
          }
          inbound.answered();
        },
        refusal -> refuse(request, refusal));
  }

  private void refuse(SessionRequest request, Refusal refusal) {
    Refused.Builder refused = refusal.inField(fieldOf(request.getRequestCase())).toRefused();
    events.tellRefused(naming(refused, request));
    inbound.answered();
  }

  private static Refused.Builder naming(Refused.Builder refused, SessionRequest request) {
    return switch (request.getRequestCase()) {
      case ACQUIRE -> refused.setAcquire(request.getAcquire().getRequestId());
      case RELEASE -> refused.setRelease(request.getRelease().getRequestId());
      case ANSWER_RELEASE -> refused.setAnswerRelease(request.getAnswerRelease().getRequestId());
      case UPDATE_METADATA -> refused.setUpdateMetadata(request.getUpdateMetadata().getRequestId());
      case POSITION -> refused.setPosition(request.getPosition().getRequestId());
      case WATCH -> refused.setWatch(request.getWatch().getWatchId());
      case UNWATCH -> refused.setUnwatch(request.getUnwatch().getWatchId());
      case KEEP_ALIVE -> refused.setKeepAlive(request.getKeepAlive().getNonce());
      case CLOSE -> refused.setClose(CloseSession.getDefaultInstance());
      case OPEN, BATCH, REQUEST_NOT_SET -> refused;
    };
  }

  private static String fieldOf(RequestCase request) {
    return request == RequestCase.REQUEST_NOT_SET ? "" : request.name().toLowerCase(Locale.ROOT);
  }
}
