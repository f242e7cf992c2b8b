package io.lockkeeper.server.rpc.service;

import io.lockkeeper.server.coordinator.api.Coordinator.SessionListener;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.rpc.call.InboundWindow;
import io.lockkeeper.server.rpc.call.OutboundStream;
import io.lockkeeper.server.rpc.call.RpcStats;
import io.lockkeeper.server.rpc.wire.EventTopic;
import io.lockkeeper.server.rpc.wire.Messages;
import io.lockkeeper.server.rpc.wire.Notices;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.v1.LeaseEnded;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.SessionResponse;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Tells a session stream what happens to its lease. */
final class SessionStreamEvents implements SessionListener {

  private final OutboundStream<SessionResponse> out;
  private final InboundWindow inbound;
  private final RpcStats stats;
  private final Predicate<LockName> readable;
  private volatile boolean closing;
  private volatile long epoch;

  /**
   * Prepares.
   *
   * @param stats counts the streams whose clients are asked to resume, and what is refused
   * @param readable of which locks the client may be told who holds them and who waits
   */
  SessionStreamEvents(
      OutboundStream<SessionResponse> out,
      InboundWindow inbound,
      RpcStats stats,
      Predicate<LockName> readable) {
    this.readable = readable;
    this.out = out;
    this.inbound = inbound;
    this.stats = stats;
  }

  /**
   * Says that the client has asked for the end of the lease: it is told when all is gone for good,
   * not before.
   */
  void closing() {
    closing = true;
  }

  /** Says under which epoch the lease is served: every response carries it. */
  void opened(long leaseEpoch) {
    epoch = leaseEpoch;
  }

  long epoch() {
    return epoch;
  }

  Predicate<LockName> readable() {
    return readable;
  }

  /** Sends a response. */
  void send(Supplier<SessionResponse.Builder> response) {
    send(Optional.empty(), response);
  }

  private void send(Optional<EventTopic> topic, Supplier<SessionResponse.Builder> response) {
    out.send(topic, () -> response.get().setEpoch(epoch).build());
  }

  /** Tells the end of the lease, and ends the stream. */
  void tellEnded(LeaseEnd end, String message) {
    send(
        () ->
            SessionResponse.newBuilder()
                .setLeaseEnded(
                    LeaseEnded.newBuilder().setReason(Messages.toReason(end)).setMessage(message)));
    out.complete();
  }

  /** Tells that the server ends the stream, and ends it. */
  void tellGoingAway(Refusal why) {
    if (!out.isEnded()) {
      stats.sentAway.increment();
    }
    end(why);
  }

  private void end(Refusal why) {
    send(() -> SessionResponse.newBuilder().setGoingAway(why.toGoingAway()));
    out.complete();
  }

  /** Tells that one request was refused. */
  void tellRefused(Refused.Builder refused) {
    stats.refused(refused.getReason());
    send(() -> SessionResponse.newBuilder().setRefused(refused));
  }

  @Override
  public void onNotice(String requestId, long told, long sequence, Notice notice) {
    epoch = told; // What is told again after a resume may come before this stream knows its epoch.
    send(
        EventTopic.of(requestId, notice),
        () ->
            SessionResponse.newBuilder()
                .setEvent(Notices.toEvent(requestId, told, sequence, notice, readable)));
    inbound.heardOf(requestId);
  }

  @Override
  public void onRefused(String requestId, RefusedException why) {
    tellRefused(Statuses.of(why).toRefused().setAcquire(requestId));
    inbound.heardOf(requestId);
  }

  @Override
  public void onLeaseEnded(LeaseEnd end, String message) {
    if (!closing) {
      tellEnded(end, message);
    }
  }

  @Override
  public void onSentAway(Failure why) {
    tellGoingAway(Statuses.sentAway(why));
  }

  @Override
  public void onSuperseded() {
    end(Statuses.supersededSession());
  }
}
