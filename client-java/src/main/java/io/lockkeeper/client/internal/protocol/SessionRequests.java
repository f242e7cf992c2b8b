package io.lockkeeper.client.internal.protocol;

import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockSpec;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.CloseSession;
import io.lockkeeper.v1.DeadlockCheck;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.SessionKeepAlive;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.UpdateMetadataRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What the client sends on its session stream. */
public final class SessionRequests {

  private static final DeadlockCheck UNSPECIFIED = DeadlockCheck.DEADLOCK_CHECK_UNSPECIFIED;

  private SessionRequests() {}

  /**
   * Opens a lease with a secret that the client has chosen, or finds it again; without a time to
   * live, the server chooses it.
   */
  public static OpenSession open(String secret, Optional<Duration> ttl, String holder) {
    OpenSession.Builder open = resume("", secret).toBuilder().setHolder(holder);
    ttl.map(Protos::toProto).ifPresent(open::setTtl);
    return open.build();
  }

  /** Resumes a lease. */
  public static OpenSession resume(String leaseId, String secret) {
    return OpenSession.newBuilder()
        .setBatches(true)
        .setLeaseId(leaseId)
        .setLeaseSecret(secret)
        .build();
  }

  /**
   * Asks for locks.
   *
   * @param waitedNanos how much of the wait limit is used up
   */
  public static SessionRequest acquire(
      LockRequest request, String requestId, String defaultHolder, long waitedNanos) {
    return SessionRequest.newBuilder()
        .setAcquire(message(request, requestId, defaultHolder, waitedNanos))
        .build();
  }

  /**
   * Asks to keep locks that were granted with {@code tokens}, in the order of the locks.
   *
   * @param maxHoldLeft how much of the longest hold is left
   */
  public static SessionRequest hold(
      LockRequest request,
      String requestId,
      String defaultHolder,
      List<Long> tokens,
      Optional<Duration> maxHoldLeft) {
    AcquireRequest.Builder message =
        message(request, requestId, defaultHolder, 0).addAllHeldTokens(tokens);
    maxHoldLeft.map(Protos::toProto).ifPresent(message::setMaxHold);
    return SessionRequest.newBuilder().setAcquire(message).build();
  }

  private static AcquireRequest.Builder message(
      LockRequest request, String requestId, String defaultHolder, long waitedNanos) {
    AcquireRequest.Builder message =
        AcquireRequest.newBuilder()
            .setOwner(request.owner())
            .setRequestId(requestId)
            .setHolder(request.holder().orElse(defaultHolder))
            .setNotifyContention(request.isNotifiedOfContention())
            .setDeadlockCheck(
                request.deadlockCheck().map(SessionRequests::toProto).orElse(UNSPECIFIED));
    for (LockSpec lock : request.locks()) {
      message.addLocks(lock(lock));
    }
    if (!request.metadata().isEmpty()) {
      message.putAllMetadata(request.metadata());
    }
    request.maxHold().map(Protos::toProto).ifPresent(message::setMaxHold);
    if (!request.lockDelay().isZero()) {
      message.setLockDelay(Protos.toProto(request.lockDelay()));
    }
    request.positionInterval().map(Protos::toProto).ifPresent(message::setPositionInterval);
    request
        .waitLimit()
        .map(limit -> limit.minusNanos(waitedNanos))
        .map(left -> left.isNegative() ? Duration.ZERO : left)
        .map(Protos::toProto)
        .ifPresent(message::setWaitTimeout);
    return message;
  }

  private static DeadlockCheck toProto(boolean check) {
    return check ? DeadlockCheck.DEADLOCK_CHECK_ON : DeadlockCheck.DEADLOCK_CHECK_OFF;
  }

  private static io.lockkeeper.v1.LockRequest lock(LockSpec lock) {
    return io.lockkeeper.v1.LockRequest.newBuilder()
        .setName(lock.name())
        .setMode(
            switch (lock.mode()) {
              case UNKNOWN -> io.lockkeeper.v1.LockMode.LOCK_MODE_UNSPECIFIED;
              case EXCLUSIVE -> io.lockkeeper.v1.LockMode.LOCK_MODE_EXCLUSIVE;
              case READ -> io.lockkeeper.v1.LockMode.LOCK_MODE_READ;
              case WRITE -> io.lockkeeper.v1.LockMode.LOCK_MODE_WRITE;
              case PERMITS -> io.lockkeeper.v1.LockMode.LOCK_MODE_PERMITS;
              case CUSTOM -> io.lockkeeper.v1.LockMode.LOCK_MODE_CUSTOM;
            })
        .setPermits(lock.permits())
        .setLimit(lock.limit())
        .setCustom(lock.custom())
        .build();
  }

  /** Makes a change of what an acquisition says of itself. */
  public static SessionRequest updateMetadata(String requestId, Map<String, String> metadata) {
    return SessionRequest.newBuilder()
        .setUpdateMetadata(
            UpdateMetadataRequest.newBuilder().setRequestId(requestId).putAllMetadata(metadata))
        .build();
  }

  /** Makes an answer to a wish to give way. */
  public static SessionRequest answerRelease(String requestId, Duration needs) {
    return SessionRequest.newBuilder()
        .setAnswerRelease(
            AnswerReleaseRequest.newBuilder()
                .setRequestId(requestId)
                .setNeeds(Protos.toProto(needs)))
        .build();
  }

  /** Releases or withdraws; a token of zero is not checked. */
  public static SessionRequest release(String requestId, long fencingToken) {
    return SessionRequest.newBuilder()
        .setRelease(
            ReleaseRequest.newBuilder().setRequestId(requestId).setFencingToken(fencingToken))
        .build();
  }

  /** Makes a keep-alive. */
  public static SessionRequest keepAlive(long nonce) {
    return SessionRequest.newBuilder()
        .setKeepAlive(SessionKeepAlive.newBuilder().setNonce(nonce))
        .build();
  }

  public static SessionRequest close() {
    return SessionRequest.newBuilder().setClose(CloseSession.getDefaultInstance()).build();
  }
}
