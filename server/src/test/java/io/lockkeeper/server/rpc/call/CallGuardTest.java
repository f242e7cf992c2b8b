package io.lockkeeper.server.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Attributes;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.lockkeeper.server.rpc.wire.Fields;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.v1.ErrorReason;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.RenewLeaseRequest;
import io.lockkeeper.v1.RenewLeaseResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** A call ends once, and what comes later is dropped. */
final class CallGuardTest {

  /** A call of the transport, which takes nothing once it is closed, as gRPC's does. */
  private static final class Transport extends ServerCall<RenewLeaseRequest, RenewLeaseResponse> {
    private final List<String> taken = new ArrayList<>();

    private void take(String what) {
      assertThat(taken).as(what + " after the end").doesNotContain("close INVALID_ARGUMENT");
      taken.add(what);
    }

    @Override
    public void request(int messages) {
      take("request");
    }

    @Override
    public void sendHeaders(Metadata headers) {
      take("headers");
    }

    @Override
    public void sendMessage(RenewLeaseResponse message) {
      take("message");
    }

    @Override
    public void close(Status status, Metadata trailers) {
      take("close " + status.getCode());
    }

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public Attributes getAttributes() {
      return Attributes.EMPTY;
    }

    @Override
    public MethodDescriptor<RenewLeaseRequest, RenewLeaseResponse> getMethodDescriptor() {
      return LeaseServiceGrpc.getRenewLeaseMethod();
    }
  }

  @AutoClose("shutdownNow")
  private final ScheduledThreadPoolExecutor timer =
      new ScheduledThreadPoolExecutor(1) {
        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
          return super.schedule(task, 1, TimeUnit.DAYS); // The test runs it.
        }
      };

  private final RpcStats stats = new RpcStats();
  private final CallGuard guard =
      new CallGuard(
          new CallAdmission(1, 1, 8_192, Duration.ofSeconds(1), new RefusalCounts()), timer, stats);

  private final AtomicReference<ServerCall<RenewLeaseRequest, RenewLeaseResponse>> service =
      new AtomicReference<>();

  private ServerCall.Listener<RenewLeaseRequest> accept(Transport transport, boolean delayed) {
    return guard.interceptCall(
        transport,
        new Metadata(),
        (call, headers) -> {
          service.set(call);
          CallGuard.delayErrorsIf(() -> delayed);
          return new ServerCall.Listener<>() {
            @Override
            public void onMessage(RenewLeaseRequest message) {
              throw Fields.invalid("lease_id", "is malformed");
            }
          };
        });
  }

  private void doWhatWaits() {
    List.copyOf(timer.getQueue()).forEach(Runnable::run);
  }

  @Test
  void answerToARequestBeforeTheOneThatEndedTheCallIsDropped() {
    // Given
    Transport transport = new Transport();
    ServerCall.Listener<RenewLeaseRequest> listener = accept(transport, false);

    // When
    listener.onMessage(RenewLeaseRequest.getDefaultInstance());
    service.get().sendHeaders(new Metadata());
    service.get().sendMessage(RenewLeaseResponse.getDefaultInstance());
    service.get().close(Status.OK, new Metadata());

    // Then
    assertThat(transport.taken).containsExactly("close INVALID_ARGUMENT");
  }

  @Test
  void refusalThatIsDelayedIsToldLaterAndTheEndOfAllIsNotWaitedFor() {
    // Given
    Transport refused = new Transport();
    ServerCall.Listener<RenewLeaseRequest> listener = accept(refused, true);
    // When
    listener.onMessage(RenewLeaseRequest.getDefaultInstance());
    service.get().sendMessage(RenewLeaseResponse.getDefaultInstance());
    service.get().close(Status.INTERNAL, new Metadata());
    // Then
    assertThat(refused.taken).isEmpty();
    assertThat(timer.getQueue()).hasSize(1);
    // When
    guard.endAll(Statuses.overflow());
    doWhatWaits();
    // Then
    assertThat(refused.taken).containsExactly("close RESOURCE_EXHAUSTED");
  }

  @Test
  void refusalThatIsDelayedIsTheFirstOne() {
    // Given
    Transport refused = new Transport();
    ServerCall.Listener<RenewLeaseRequest> listener = accept(refused, true);
    // When
    service.get().close(Status.NOT_FOUND, new Metadata());
    service.get().close(Status.INTERNAL, new Metadata());
    listener.onHalfClose();
    doWhatWaits();
    // Then
    assertThat(refused.taken).containsExactly("close NOT_FOUND");
  }

  @Test
  void callIsCountedOnceByHowItEndedAndByWhyItWasRefused() {
    // Given
    ServerCall.Listener<RenewLeaseRequest> refused = accept(new Transport(), false);
    ServerCall.Listener<RenewLeaseRequest> cancelled = accept(new Transport(), false);
    // When
    refused.onMessage(RenewLeaseRequest.getDefaultInstance());
    refused.onComplete();
    cancelled.onCancel();
    cancelled.onCancel();
    // Then
    assertThat(stats.ended(Status.Code.INVALID_ARGUMENT)).isEqualTo(1);
    assertThat(stats.refusals(ErrorReason.ERROR_REASON_INVALID_FIELD)).isEqualTo(1);
    assertThat(stats.ended(Status.Code.CANCELLED)).isEqualTo(1);
    assertThat(stats.ended(Status.Code.OK)).isZero();
  }

  @Test
  void refusalOfACallThatIsGoneIsNotKept() {
    // Given
    ServerCall.Listener<RenewLeaseRequest> listener = accept(new Transport(), true);
    listener.onMessage(RenewLeaseRequest.getDefaultInstance());
    assertThat(timer.getQueue()).hasSize(1);
    // When
    listener.onCancel();
    // Then
    assertThat(timer.getQueue()).allMatch(task -> ((Future<?>) task).isCancelled());
  }
}
