package io.lockkeeper.bench.lockkeeper;

import com.google.protobuf.Duration;
import io.grpc.Channel;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenLeaseRequest;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

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
        withinTheRate(
                () ->
                    LeaseServiceGrpc.newBlockingStub(channel)
                        .withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
                        .openLease(
                            OpenLeaseRequest.newBuilder().setTtl(TTL).setHolder("hostile").build()))
            .getLeaseId();
    for (AcquireRequest request : requests) {
      boolean unused =
          withinTheRate(() -> acquire(channel, request.toBuilder().setLeaseId(lease).build()));
    }
    return new Holding(channel, lease);
  }

  /** Asks again for as long as there were too many requests, those of earlier attacks included. */
  private static <A> A withinTheRate(Supplier<A> request) {
    long startNanos = System.nanoTime();
    while (true) {
      try {
        return request.get();
      } catch (StatusRuntimeException e) {
        if (e.getStatus().getCode() != Status.Code.RESOURCE_EXHAUSTED
            || System.nanoTime() - startNanos > TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)) {
          throw e;
        }
        // The server makes whoever asks too often wait for his refusals.
      }
    }
  }

  private static boolean acquire(Channel channel, AcquireRequest request) {
    Context.CancellableContext whileWaiting = Context.current().withCancellation();
    try {
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
    } finally {
      // The lease holds it from here on.
      whileWaiting.cancel(null);
    }
    return true;
  }

  /** Gives all of it back. */
  void close() {
    var unused =
        LeaseServiceGrpc.newBlockingStub(channel)
            .withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
            .closeLease(CloseLeaseRequest.newBuilder().setLeaseId(lease).build());
  }
}
