package io.lockkeeper.bench.lockkeeper;

import com.google.protobuf.Duration;
import io.grpc.Channel;
import io.grpc.Context;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenLeaseRequest;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Locks that are held while an attack lasts, under a lease of their own. */
final class Holding {

  private static final Duration TTL = Duration.newBuilder().setSeconds(60).build();
  private static final long PATIENCE_SECONDS = 60;

  private final Channel channel;
  private final String lease;

  private Holding(Channel channel, String lease) {
    this.channel = channel;
    this.lease = lease;
  }

  /** Acquires what is asked for, one request after the other. */
  static Holding of(Channel channel, List<AcquireRequest> requests) {
    String lease =
        LeaseServiceGrpc.newBlockingStub(channel)
            .withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
            .openLease(OpenLeaseRequest.newBuilder().setTtl(TTL).setHolder("hostile").build())
            .getLeaseId();
    requests.forEach(request -> acquire(channel, request.toBuilder().setLeaseId(lease).build()));
    return new Holding(channel, lease);
  }

  private static void acquire(Channel channel, AcquireRequest request) {
    Context.CancellableContext whileWaiting = Context.current().withCancellation();
    whileWaiting.run(
        () -> {
          var events =
              LockServiceGrpc.newBlockingStub(channel)
                  .withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
                  .acquire(request);
          while (!events.next().hasGranted()) {
            // It is queued first.
          }
        });
    // The lease holds it from here on.
    whileWaiting.cancel(null);
  }

  /** Gives all of it back. */
  void close() {
    var unused =
        LeaseServiceGrpc.newBlockingStub(channel)
            .withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
            .closeLease(CloseLeaseRequest.newBuilder().setLeaseId(lease).build());
  }
}
