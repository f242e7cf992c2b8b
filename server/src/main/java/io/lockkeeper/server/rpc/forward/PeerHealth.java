package io.lockkeeper.server.rpc.forward;

import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.rpc.call.HealthReporter;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An eye on one peer: a stream that waits for changes of its health, over the connection that
 * requests take too. When it breaks it is begun again soon, and so the connection is made anew.
 */
final class PeerHealth {

  private static final Logger LOG = LoggerFactory.getLogger(PeerHealth.class);

  /** A connection that has broken is made anew so soon, to learn whether it is refused. */
  private static final long SOON_MILLIS = 100;

  private static final long LATER_MILLIS = 500;

  private static final HealthCheckRequest LEASES =
      HealthCheckRequest.newBuilder().setService(HealthReporter.LEASES).build();

  private final PeerLink link;
  private final ManagedChannel channel;
  private final PeerLimits limits;
  private final ScheduledExecutorService timer;
  private final StallDetector stallDetector;
  private final AtomicBoolean asking = new AtomicBoolean();
  private final Context.CancellableContext life = Context.ROOT.withCancellation();

  PeerHealth(
      PeerLink link,
      ManagedChannel channel,
      PeerLimits limits,
      ScheduledExecutorService timer,
      StallDetector stallDetector) {
    this.link = link;
    this.channel = channel;
    this.limits = limits;
    this.timer = timer;
    this.stallDetector = stallDetector;
  }

  /** Watches until closed: a watch that ends is begun again. */
  void watch() {
    if (life.isCancelled()) {
      return;
    }
    // A peer that is just starting should not be waited for as long as gRPC would.
    channel.resetConnectBackoff();
    life.run(() -> HealthGrpc.newStub(channel).watch(LEASES, new Watcher()));
  }

  private void watchAgain() {
    link.saysNothing();
    if (life.isCancelled()) {
      return;
    }
    boolean hasBroken = link.isKnown() && !link.isSuspected();
    try {
      var unused =
          timer.schedule(
              this::watch, hasBroken ? SOON_MILLIS : LATER_MILLIS, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.atDebug().setCause(e).log("No more looks at peers");
    }
  }

  /** Asks for a sign of life; suspects the peer if none comes. At most one question at a time. */
  void askForLife() {
    if (!life.isCancelled() && asking.compareAndSet(false, true)) {
      life.run(
          () ->
              HealthGrpc.newStub(channel)
                  .withDeadlineAfter(limits.silence().toNanos(), TimeUnit.NANOSECONDS)
                  .check(LEASES, new Observer(() -> asking.set(false))));
    }
  }

  /** Ends the watch. Idempotent. */
  void close() {
    life.cancel(null);
  }

  /** Hears that there is an answer: a sign of life, whatever it says. */
  private class Observer implements StreamObserver<HealthCheckResponse> {

    private final Runnable onEnd;
    private final long startNanos = System.nanoTime();

    Observer(Runnable onEnd) {
      this.onEnd = onEnd;
    }

    @Override
    public void onNext(HealthCheckResponse response) {
      link.heard();
    }

    @Override
    public void onError(Throwable cause) {
      Status status = Status.fromThrowable(cause);
      if (!life.isCancelled()) {
        PeerFailure.otherCoordinator(Status.trailersFromThrowable(cause))
            .ifPresent(id -> link.answeredByOther(id, System.nanoTime()));
        onFailed(status);
      }
      onEnd.run();
    }

    private void onFailed(Status status) {
      if (status.getCode() != Status.Code.DEADLINE_EXCEEDED) {
        link.brokeOff(status);
      } else if (stallDetector.isSteadySince(startNanos)) {
        link.suspect("it gives no sign of life");
      }
    }

    @Override
    public void onCompleted() {
      onEnd.run();
    }
  }

  /** Hears what the peer's health is, from the watch alone: two calls may overtake each other. */
  private final class Watcher extends Observer {

    Watcher() {
      super(PeerHealth.this::watchAgain);
    }

    @Override
    public void onNext(HealthCheckResponse response) {
      super.onNext(response);
      link.says(response.getStatus() == HealthCheckResponse.ServingStatus.SERVING);
    }
  }
}
