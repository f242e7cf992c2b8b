package io.lockkeeper.server.rpc.service;

import io.lockkeeper.server.coordinator.api.Coordinator.SessionListener;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.rpc.call.InboundWindow;
import io.lockkeeper.server.rpc.call.OutboundStream;
import io.lockkeeper.server.rpc.wire.Messages;
import io.lockkeeper.server.rpc.wire.Notices;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.v1.LeaseEnded;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;

/** Tells a session stream what happens to its lease. */
final class SessionStreamEvents implements SessionListener {

  private final OutboundStream<SessionResponse> out;
  private final InboundWindow inbound;
  private final LongAdder sentAway;
  private volatile boolean closing;

  /**
   * Prepares.
   *
   * @param sentAway counts the streams whose clients are asked to resume
   */
  SessionStreamEvents(
      OutboundStream<SessionResponse> out, InboundWindow inbound, LongAdder sentAway) {
    this.out = out;
    this.inbound = inbound;
    this.sentAway = sentAway;
  }

  /**
   * Says that the client has asked for the end of the lease: it is told when all is gone for good,
   * not before.
   */
  void closing() {
    closing = true;
  }

  /** Tells the end of the lease, and ends the stream. */
  void tellEnded(LeaseEnd end) {
    out.send(
        () ->
            SessionResponse.newBuilder()
                .setLeaseEnded(LeaseEnded.newBuilder().setReason(Messages.toReason(end)))
                .build());
    out.complete();
  }

  /** Tells that the server ends the stream, and ends it. */
  void tellGoingAway(String reason, Duration resumeAfter) {
    if (!out.isEnded()) {
      sentAway.increment();
    }
    end(reason, resumeAfter);
  }

  private void end(String reason, Duration resumeAfter) {
    out.send(() -> Messages.goingAway(reason, resumeAfter));
    out.complete();
  }

  /** Tells that one request was refused. */
  void tellRefused(Refused.Builder refused) {
    out.send(() -> SessionResponse.newBuilder().setRefused(refused).build());
  }

  @Override
  public void onNotice(String requestId, long sequence, Notice notice) {
    out.send(
        () ->
            SessionResponse.newBuilder()
                .setEvent(Notices.toEvent(requestId, sequence, notice))
                .build());
    inbound.heardOf(requestId);
  }

  @Override
  public void onRefused(String requestId, RefusedException why) {
    Refused.Builder refused = Statuses.of(why).toRefused(requestId);
    if (why.failure().reason() == Failure.Reason.QUEUE_FULL) {
      refused.setReason(NotAcquiredReason.NOT_ACQUIRED_REASON_QUEUE_FULL);
    }
    tellRefused(refused);
    inbound.heardOf(requestId);
  }

  @Override
  public void onLeaseEnded(LeaseEnd end) {
    if (!closing) {
      tellEnded(end);
    }
  }

  @Override
  public void onSentAway(String reason) {
    tellGoingAway(reason, Duration.ZERO);
  }

  @Override
  public void onSuperseded() {
    end("resumed on another stream", Duration.ZERO);
  }
}
