package io.lockkeeper.client;

import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.CloseSession;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.SessionKeepAlive;
import io.lockkeeper.v1.SessionRequest;
import java.time.Duration;
import java.util.Optional;

/** What the client sends on its session stream. */
final class Requests {

  private static final Duration LONGEST_COUNTED = Duration.ofDays(365);

  private Requests() {}

  static OpenSession open(Optional<Lease> toResume, Settings settings) {
    OpenSession.Builder open = OpenSession.newBuilder();
    if (toResume.isPresent()) {
      return open.setLeaseId(toResume.get().id()).setLeaseSecret(toResume.get().secret()).build();
    }
    settings.ttl().map(Protos::toProto).ifPresent(open::setTtl);
    return open.setHolder(settings.holder()).build();
  }

  /** Asks for a lock; {@code waitedNanos} of the wait limit are used up. */
  static SessionRequest acquire(
      LockRequest request, String requestId, String defaultHolder, long waitedNanos) {
    AcquireRequest.Builder message =
        AcquireRequest.newBuilder()
            .addLocks(io.lockkeeper.v1.LockRequest.newBuilder().setName(request.name()))
            .setRequestId(requestId)
            .setHolder(request.holder().orElse(defaultHolder))
            .putAllMetadata(request.metadata());
    request.positionInterval().map(Protos::toProto).ifPresent(message::setPositionInterval);
    request
        .waitLimit()
        .map(limit -> limit.minusNanos(waitedNanos))
        .map(left -> left.isNegative() ? Duration.ZERO : left)
        .map(Protos::toProto)
        .ifPresent(message::setWaitTimeout);
    return SessionRequest.newBuilder().setAcquire(message).build();
  }

  /** Releases or withdraws; a token of zero is not checked. */
  static SessionRequest release(String requestId, long fencingToken) {
    return SessionRequest.newBuilder()
        .setRelease(
            ReleaseRequest.newBuilder().setRequestId(requestId).setFencingToken(fencingToken))
        .build();
  }

  static SessionRequest keepAlive(long nonce) {
    return SessionRequest.newBuilder()
        .setKeepAlive(SessionKeepAlive.newBuilder().setNonce(nonce))
        .build();
  }

  static SessionRequest close() {
    return SessionRequest.newBuilder().setClose(CloseSession.getDefaultInstance()).build();
  }

  /** Returns the nanoseconds of a duration, a year at most. */
  static long nanos(Duration duration) {
    return duration.compareTo(LONGEST_COUNTED) > 0 ? LONGEST_COUNTED.toNanos() : duration.toNanos();
  }
}
