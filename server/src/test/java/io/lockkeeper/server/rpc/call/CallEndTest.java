package io.lockkeeper.server.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.grpc.inprocess.InProcessSocketAddress;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.LockServiceGrpc;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who cancels gives up by his own decision; whatever else ends a call is a crash. */
class CallEndTest {

  private static final SocketAddress NETWORK = new InetSocketAddress("localhost", 1);
  private static final Status RESET =
      Status.CANCELLED.withDescription("RST_STREAM received for code 8");

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

  @AfterEach
  void stop() {
    timer.shutdownNow();
  }

  /** Returns whether a call counts as cancelled that ends so. */
  private boolean isCancel(SocketAddress client, Optional<Long> deadlineSeconds, Status end) {
    return isCancel(
        client, deadlineSeconds.map(s -> Deadline.after(s, TimeUnit.SECONDS)), () -> {}, end);
  }

  private boolean isCancel(
      SocketAddress client, Optional<Deadline> deadline, Runnable meanwhile, Status end) {
    ServerStreamTracer tracer =
        CallEnd.factory(CallBudgets.unlimited()).newServerStreamTracer("Acquire", new Metadata());
    tracer.serverCallStarted(new Info(client));
    Context context = tracer.filterContext(Context.ROOT);
    Context.CancellableContext call =
        deadline.map(at -> context.withDeadline(at, timer)).orElseGet(context::withCancellation);
    Context before = call.attach();
    try {
      CallEnd ended = CallEnd.ofCurrentCall();
      meanwhile.run();
      tracer.streamClosed(end);
      return ended.isCancelledByClient();
    } finally {
      call.detachAndCancel(before, null);
    }
  }

  /** A call as the transport tells it. */
  private static final class Info
      extends ServerStreamTracer.ServerCallInfo<AcquireRequest, AcquireResponse> {

    private final SocketAddress client;

    Info(SocketAddress client) {
      this.client = client;
    }

    @Override
    public MethodDescriptor<AcquireRequest, AcquireResponse> getMethodDescriptor() {
      return LockServiceGrpc.getAcquireMethod();
    }

    @Override
    public Attributes getAttributes() {
      return Attributes.newBuilder().set(Grpc.TRANSPORT_ATTR_REMOTE_ADDR, client).build();
    }

    @Override
    public String getAuthority() {
      return "localhost";
    }
  }

  @Test
  void resetByTheClientIsACancel() {
    assertThat(isCancel(NETWORK, Optional.empty(), RESET)).isTrue();
  }

  @Test
  void resetLongBeforeTheDeadlineOfTheCallIsACancel() {
    assertThat(isCancel(NETWORK, Optional.of(86_400L), RESET)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1})
  void resetByADeadlineThatPassesIsACrashThoughItIsHeardALittleBefore(long left) {
    assertThat(isCancel(NETWORK, Optional.of(left), RESET)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"900, true", "1001, false"})
  void resetByADeadlineThatTheClientHasRoundedUpIsACrash(long after, boolean cancel) {
    // Given: the client gave the call 1001 s
    AtomicLong nanos = new AtomicLong();
    Deadline rounded =
        Deadline.after(
            1_010,
            TimeUnit.SECONDS,
            new Deadline.Ticker() {
              @Override
              public long nanoTime() {
                return nanos.get();
              }
            });
    // When
    boolean counted =
        isCancel(
            NETWORK,
            Optional.of(rounded),
            () -> nanos.addAndGet(TimeUnit.SECONDS.toNanos(after)),
            RESET);
    // Then
    assertThat(counted).isEqualTo(cancel);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "RST_STREAM received for code 2",
        "RST_STREAM received for code 80",
        "connection closed",
        "",
        "the client said so"
      })
  void anyOtherWordsOfTheNetworkAreACrash(String words) {
    assertThat(isCancel(NETWORK, Optional.empty(), Status.CANCELLED.withDescription(words)))
        .isFalse();
    assertThat(isCancel(NETWORK, Optional.empty(), Status.CANCELLED)).isFalse();
  }

  @Test
  void callThatEndsOtherwiseIsNotCancelled() {
    assertThat(isCancel(NETWORK, Optional.empty(), Status.OK)).isFalse();
    assertThat(isCancel(NETWORK, Optional.empty(), Status.UNAVAILABLE)).isFalse();
  }

  @Test
  void cancelInsideTheProcessIsOneWhateverItsWords() {
    SocketAddress inside = new InProcessSocketAddress("test");
    Status words = Status.CANCELLED.withDescription("no longer wanted");
    assertThat(isCancel(inside, Optional.empty(), words)).isTrue();
    assertThat(isCancel(inside, Optional.empty(), Status.DEADLINE_EXCEEDED)).isFalse();
  }
}
