package io.lockkeeper.server.rpc;

import io.lockkeeper.server.rpc.wire.ProtoDurations;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.CloseSession;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.SessionKeepAlive;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionRequestBatch;
import io.lockkeeper.v1.Unwatch;
import io.lockkeeper.v1.UpdateMetadataRequest;
import io.lockkeeper.v1.WatchRequest;
import java.util.List;

/** What clients send on session streams. */
public final class SessionMessages {

  private SessionMessages() {}

  public static SessionRequest opening() {
    return SessionRequest.newBuilder()
        .setOpen(
            OpenSession.newBuilder()
                .setHolder("shop-1")
                .setTtl(ProtoDurations.ofNanos(5_000_000_000L)))
        .build();
  }

  public static SessionRequest resuming() {
    return SessionRequest.newBuilder()
        .setOpen(
            OpenSession.newBuilder()
                .setLeaseId(ViewSamples.LEASE.toString())
                .setLeaseSecret("s3cret"))
        .build();
  }

  public static SessionRequest resumingWithBatches() {
    SessionRequest.Builder request = resuming().toBuilder();
    request.getOpenBuilder().setBatches(true);
    return request.build();
  }

  public static SessionRequest batch(SessionRequest... requests) {
    return SessionRequest.newBuilder()
        .setBatch(SessionRequestBatch.newBuilder().addAllRequests(List.of(requests)))
        .build();
  }

  public static SessionRequest acquiring(String requestId) {
    return SessionRequest.newBuilder()
        .setAcquire(
            AcquireRequest.newBuilder()
                .setRequestId(requestId)
                .addLocks(LockRequest.newBuilder().setName("orders/42")))
        .build();
  }

  public static SessionRequest keepAlive(long nonce) {
    return SessionRequest.newBuilder()
        .setKeepAlive(SessionKeepAlive.newBuilder().setNonce(nonce))
        .build();
  }

  public static SessionRequest closing() {
    return SessionRequest.newBuilder().setClose(CloseSession.getDefaultInstance()).build();
  }

  public static SessionRequest watching(String id) {
    return SessionRequest.newBuilder()
        .setWatch(WatchRequest.newBuilder().setWatchId(id).setPrefix("orders"))
        .build();
  }

  public static SessionRequest unwatching(String id) {
    return SessionRequest.newBuilder().setUnwatch(Unwatch.newBuilder().setWatchId(id)).build();
  }

  public static SessionRequest releasing(String requestId) {
    return SessionRequest.newBuilder()
        .setRelease(ReleaseRequest.newBuilder().setRequestId(requestId))
        .build();
  }

  public static SessionRequest answering(String requestId, long needsNanos) {
    return SessionRequest.newBuilder()
        .setAnswerRelease(
            AnswerReleaseRequest.newBuilder()
                .setRequestId(requestId)
                .setNeeds(ProtoDurations.ofNanos(needsNanos)))
        .build();
  }

  public static SessionRequest describing(String requestId, String key, String value) {
    return SessionRequest.newBuilder()
        .setUpdateMetadata(
            UpdateMetadataRequest.newBuilder().setRequestId(requestId).putMetadata(key, value))
        .build();
  }
}
