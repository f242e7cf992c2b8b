package io.lockkeeper.client.internal.session;

import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.client.internal.loop.Backoff;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.loop.ResettableTimer;
import io.lockkeeper.client.internal.protocol.ErrorDetails;
import io.lockkeeper.client.internal.transport.ServerList;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.CloseLeaseResponse;
import io.lockkeeper.v1.LeaseServiceGrpc;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Closes one lease that the client has given up: its coordinator would keep the locks until the
 * lease expires. Tries one server after the other, each over a connection of its own, until one
 * answers or a minute has passed. On the client's loop only.
 */
final class LeaseClosing {

  private static final long LIMIT_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final long ATTEMPT_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Loop loop;
  private final ServerList servers;
  private final Backoff backoff;
  private final CloseLeaseRequest request;
  private final Consumer<LeaseClosing> whenEnded;
  private final ResettableTimer timer;
  private final long startedNanos;
  private Optional<ManagedChannel> channel = Optional.empty();
  private int failures;

  /** Prepares to close the lease; {@code whenEnded} runs when nothing more is tried. */
  LeaseClosing(
      String leaseId,
      Loop loop,
      ServerList servers,
      Backoff backoff,
      Consumer<LeaseClosing> whenEnded) {
    this.loop = loop;
    this.servers = servers;
    this.backoff = backoff;
    this.request = CloseLeaseRequest.newBuilder().setLeaseId(leaseId).build();
    this.whenEnded = whenEnded;
    this.timer = new ResettableTimer(loop);
    this.startedNanos = loop.nanos();
  }

  /** Makes an attempt. */
  void start() {
    timer.set(ATTEMPT_NANOS, () -> onFailed(ErrorDetails.of(Status.DEADLINE_EXCEEDED)));
    servers.refresh(
        loop,
        () -> {
          if (timer.isSet()) {
            call();
          }
        });
  }

  private void call() {
    Context before = Context.ROOT.attach(); // The call must not end with that of the caller.
    try {
      ManagedChannel opened = servers.connect();
      channel = Optional.of(opened);
      LeaseServiceGrpc.newStub(opened).closeLease(request, new Answer(opened));
    } catch (RuntimeException | Error e) {
      // The channel factory may be the user's: what it throws counts as a failed attempt.
      onFailed(ErrorDetails.of(Status.UNAVAILABLE.withCause(e)));
    } finally {
      Context.ROOT.detach(before);
    }
  }

  /** Ends all attempts. */
  void stop() {
    timer.cancel();
    channel.ifPresent(ManagedChannel::shutdownNow);
    channel = Optional.empty();
  }

  private void onFailed(ErrorDetails why) {
    stop();
    boolean isInTime = loop.nanos() - startedNanos < LIMIT_NANOS;
    if (why.isPassing() && isInTime) {
      servers.moveOn(loop.nanos());
      long askedNanos = why.retryAfter().map(Loop::toNanos).orElse(0L);
      timer.set(Math.max(backoff.nanosAfter(++failures), askedNanos), this::start);
    } else {
      whenEnded.accept(this);
    }
  }

  /** The answer over one connection; it counts while that is in use. */
  private final class Answer implements StreamObserver<CloseLeaseResponse> {
    private final ManagedChannel via;

    Answer(ManagedChannel via) {
      this.via = via;
    }

    @Override
    public void onNext(CloseLeaseResponse response) {
      // The end of the call follows.
    }

    @Override
    public void onError(Throwable failure) {
      ifInUse(() -> onFailed(ErrorDetails.of(failure)));
    }

    @Override
    public void onCompleted() {
      ifInUse(
          () -> {
            stop();
            whenEnded.accept(LeaseClosing.this);
          });
    }

    private void ifInUse(Runnable task) {
      loop.execute(
          () -> {
            if (channel.filter(via::equals).isPresent()) {
              task.run();
            }
          });
    }
  }
}
