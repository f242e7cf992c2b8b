package io.lockkeeper.server.rpc.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.rpc.Node;
import io.lockkeeper.server.rpc.SessionMessages;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.AccessRules;
import io.lockkeeper.server.rpc.call.OpenStreams;
import io.lockkeeper.server.rpc.call.RpcStats;
import io.lockkeeper.server.rpc.call.Usage;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.testing.Calls;
import io.lockkeeper.server.testing.FakeCoordinator.Attached;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What is left of a call that goes on at a peer, and fails here. */
class RoutedCallTest {

  @AutoClose private final Node here = Node.start("here");
  @AutoClose private final Node there = Node.start("there");

  @AutoClose("shutdownNow")
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

  @AutoClose("shutdownNow")
  private final ScheduledExecutorService calls = Executors.newScheduledThreadPool(2);

  private final BrokenCall client = new BrokenCall();

  /** A client that nothing can be sent to, and that never says that it has gone. */
  private static final class BrokenCall extends ServerCall<SessionRequest, SessionResponse> {
    final Calls<Status.Code> closed = new Calls<>("close");

    @Override
    public void request(int count) {}

    @Override
    public void sendHeaders(Metadata headers) {}

    @Override
    public void sendMessage(SessionResponse message) {
      throw new IllegalStateException("thrown by a test");
    }

    @Override
    public void close(Status status, Metadata trailers) {
      closed.add(status.getCode());
    }

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public MethodDescriptor<SessionRequest, SessionResponse> getMethodDescriptor() {
      return LockServiceGrpc.getSessionMethod();
    }
  }

  /** Refuses, since the lease is not served here. */
  private static ServerCallHandler<SessionRequest, SessionResponse> notServedHere() {
    StatusRuntimeException refusal =
        Statuses.of(ViewSamples.refused(Failure.Reason.UNKNOWN_LEASE)).toException();
    return (call, headers) ->
        new ServerCall.Listener<>() {
          @Override
          public void onMessage(SessionRequest message) {
            call.close(refusal.getStatus(), refusal.getTrailers());
          }
        };
  }

  @Test
  void callThatFailsHereIsCancelledAtThePeer() {
    // Given
    here.knows(there);
    Forwarding forwarding =
        new Forwarding(
            new LeaseOwnerSearches(here.coordinator, Node.LIMITS, timer),
            here.services.peers(),
            new OpenStreams(timer),
            calls,
            new RpcStats(),
            "here");
    RoutedCall<SessionRequest, SessionResponse> call =
        new RoutedCall<>(
            client,
            new Metadata(),
            notServedHere(),
            forwarding,
            new Access(
                Identity.ANONYMOUS,
                "127.0.0.1:1",
                "Session",
                AccessRules.OPEN,
                new Usage().of("127.0.0.1")));
    call.start();
    call.onMessage(SessionMessages.resuming());
    Attached attached = there.coordinator.attaches.next();
    // When
    attached.attached().complete(ViewSamples.attached());
    // Then
    assertThat(client.closed.next()).isEqualTo(Status.Code.INTERNAL);
    assertThat(attached.detached().next()).isEqualTo("detached");
  }
}
