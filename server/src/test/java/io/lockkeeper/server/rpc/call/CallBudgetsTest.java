package io.lockkeeper.server.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.StringValue;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.v1.LockServiceGrpc;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What all calls together hold in memory is bounded, and is given back whole. */
class CallBudgetsTest {

  private static final int PIECE = 1_000;

  private final RefusalCounts refusals = new RefusalCounts();
  private final CallBudgets budgets =
      new CallBudgets(new ServerLimits(0, 0, 0, 0, 200_000, 10_000), refusals);
  private final List<Refusal> refused = new ArrayList<>();

  private ServerStreamTracer callOf(MethodDescriptor<?, ?> method) {
    ServerStreamTracer call =
        CallEnd.factory(budgets).newServerStreamTracer(method.getFullMethodName(), new Metadata());
    call.serverCallStarted(new Info<>(method));
    call.filterContext(Context.ROOT)
        .run(() -> CallEnd.current().orElseThrow().onOverBudget(refused::add));
    return call;
  }

  /** A call as the transport tells it. */
  private static final class Info<Q, R> extends ServerStreamTracer.ServerCallInfo<Q, R> {

    private final MethodDescriptor<Q, R> method;

    Info(MethodDescriptor<Q, R> method) {
      this.method = method;
    }

    @Override
    public MethodDescriptor<Q, R> getMethodDescriptor() {
      return method;
    }

    @Override
    public Attributes getAttributes() {
      return Attributes.EMPTY;
    }

    @Override
    public String getAuthority() {
      return "localhost";
    }
  }

  @Test
  void callWhosePiecesGoOverTheBudgetIsRefusedWithTheLimit() {
    // Given
    ServerStreamTracer call = callOf(LockServiceGrpc.getAcquireMethod());
    // When
    for (int i = 0; i < 12; i++) {
      call.inboundWireSize(PIECE);
    }
    // Then
    assertThat(refused).isNotEmpty();
    assertThat(refused.get(0).message()).contains("200000");
    assertThat(refused.get(0).retryAfter()).isPresent();
    assertThat(refusals.of(Limit.PARTIAL_REQUESTS)).isPositive();
  }

  @Test
  void requestOfOnePieceHasRoomWhereThoseOfManyHaveNone() {
    // Given
    ServerStreamTracer large = callOf(LockServiceGrpc.getAcquireMethod());
    for (int i = 0; i < 100; i++) {
      large.inboundWireSize(PIECE);
    }
    // When
    callOf(LockServiceGrpc.getSessionMethod()).inboundWireSize(PIECE);
    // Then: only the large one was rejected, once
    assertThat(refused).hasSize(1);
  }

  @Test
  void smallPiecesCostTheBuffersThatTheyKeep() {
    // Given
    ServerStreamTracer call = callOf(LockServiceGrpc.getAcquireMethod());
    // When
    for (int i = 0; i < 20; i++) {
      call.inboundWireSize(1);
    }
    // Then
    assertThat(refused).isNotEmpty();
  }

  @Test
  void callThatEndsGivesBackWhatItHeldOfItsRequest() {
    // Given
    ServerStreamTracer call = callOf(LockServiceGrpc.getAcquireMethod());
    call.inboundWireSize(PIECE);
    // When
    call.streamClosed(Status.CANCELLED);
    // Then
    assertThat(budgets.partial().held()).isZero();
  }

  @Test
  void requestOfAStreamIsWholeWhenItIsReadAndALoneOneWhenNothingMoreComes() {
    // Given
    ServerStreamTracer session = callOf(LockServiceGrpc.getSessionMethod());
    ServerStreamTracer acquire = callOf(LockServiceGrpc.getAcquireMethod());
    session.inboundWireSize(PIECE);
    acquire.inboundWireSize(PIECE);
    // When
    session.inboundMessageRead(0, PIECE, PIECE);
    acquire.inboundMessageRead(0, PIECE, PIECE);
    // Then
    assertThat(budgets.partial().held()).isEqualTo((long) PIECE + ServerLimits.BUFFER_BYTES);
    acquire.filterContext(Context.ROOT).run(() -> CallEnd.current().orElseThrow().requestIsWhole());
    assertThat(budgets.partial().held()).isZero();
  }

  @Test
  void streamThatIsReadSlowlyEndsWhereTooMuchWaitsInAllAndAPromptOneDoesNot() {
    // Given: a hundred streams whose clients do not read, each with little
    List<Stream> slow = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      slow.add(new Stream(false));
      slow.get(i).send(2);
    }
    Stream prompt = new Stream(true);
    // When
    prompt.send(5);
    // Then
    assertThat(prompt.call.ends).isEmpty();
    assertThat(slow).anyMatch(stream -> !stream.call.ends.isEmpty());
    assertThat(slow.get(0).call.ends).isEmpty();
    assertThat(refusals.of(Limit.UNREAD_BYTES)).isPositive();
  }

  @Test
  void whateverWayAStreamEndsNothingOfItCountsAnyMore() {
    // Given
    Stream cancelled = new Stream(false);
    Stream failed = new Stream(false);
    Stream completed = new Stream(false);
    List.of(cancelled, failed, completed).forEach(stream -> stream.send(3));
    long held = budgets.unread().held();
    // When
    cancelled.call.cancel();
    failed.out.fail(Statuses.overflow());
    completed.out.complete();
    // Then
    assertThat(held).isPositive();
    assertThat(budgets.unread().held()).isZero();
  }

  /** A stream to a client that reads, or not. */
  private final class Stream {

    final NotingCall<StringValue> call = new NotingCall<>();
    final OutboundStream<StringValue> out;

    Stream(boolean ready) {
      call.ready = ready;
      List<OutboundStream<StringValue>> made = new ArrayList<>();
      CallEnd.factory(budgets)
          .newServerStreamTracer("Watch", new Metadata())
          .filterContext(Context.ROOT)
          .run(() -> made.add(new OutboundStream<>(call, 1_000, 1_000_000)));
      this.out = made.get(0);
    }

    void send(int messages) {
      for (int i = 0; i < messages; i++) {
        out.send(() -> StringValue.of("x".repeat(50)));
      }
    }
  }
}
