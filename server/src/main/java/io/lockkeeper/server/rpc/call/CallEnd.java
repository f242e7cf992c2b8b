package io.lockkeeper.server.rpc.call;

import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.inprocess.InProcessSocketAddress;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.Statuses;
import java.net.SocketAddress;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * What only the transport knows of a call: how much of a request it holds that has not arrived
 * whole, when it is over, and how it ended that was cut short. For that, gRPC tells its handler the
 * same of a client that cancelled and of a connection that broke, and only the transport knows
 * better. What it does not know for certain counts as no cancel: a crash that is taken for a
 * decision would skip a lock delay.
 */
public final class CallEnd extends ServerStreamTracer {

  /** Returns what makes one for each call. */
  public static Factory factory(CallBudgets budgets) {
    return new Factory() {
      @Override
      public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
        return new CallEnd(budgets);
      }
    };
  }

  /** What a call in the process is cancelled with whose client's connection has broken. */
  public static final String CONNECTION_BROKE = "the connection broke";

  private static final Context.Key<CallEnd> KEY = Context.key("call-end");

  // HTTP/2's CANCEL. A reset with another code is a fault on the way.
  private static final String RESET_BY_CANCEL = "RST_STREAM received for code 8";

  /**
   * A client that resets a call because its deadline has passed may be heard before that: the
   * deadline is counted here from when the call arrived, and gRPC's core in C rounds it up by as
   * much as a hundredth.
   */
  private static final long DEADLINE_SLACK_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final int DEADLINE_SLACK_PART = 50;

  /**
   * What a piece of a request costs besides its bytes: it keeps the whole buffer that it came in,
   * and whatever else was in that may be long forgotten.
   */
  private static final int PIECE_BYTES = ServerLimits.BUFFER_BYTES;

  private final CallBudgets budgets;
  private final AtomicLong partialBytes = new AtomicLong();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();
  private volatile Consumer<Refusal> onOverBudget = refusal -> {};
  private volatile boolean wholeWithMessage;
  private volatile Optional<Status> status = Optional.empty();
  private volatile Optional<Deadline> deadline = Optional.empty();
  private volatile long slackNanos = DEADLINE_SLACK_NANOS;
  private volatile boolean inProcess;
  // Only the transport's thread touches it.
  private boolean overBudget;

  private CallEnd(CallBudgets budgets) {
    this.budgets = budgets;
  }

  /** Returns that of the current call; one that never ends, where the transport has no tracers. */
  public static CallEnd ofCurrentCall() {
    CallEnd current = KEY.get();
    if (current == null) {
      return new CallEnd(CallBudgets.unlimited());
    }
    current.deadline = Optional.ofNullable(Context.current().getDeadline());
    current.deadline.ifPresent(
        of ->
            current.slackNanos =
                Math.max(
                    DEADLINE_SLACK_NANOS,
                    of.timeRemaining(TimeUnit.NANOSECONDS) / DEADLINE_SLACK_PART));
    return current;
  }

  /** Returns that of the current call, where the transport has tracers. */
  static Optional<CallEnd> current() {
    return Optional.ofNullable(KEY.get());
  }

  /** Returns the budgets that the call shares with all others. */
  CallBudgets budgets() {
    return budgets;
  }

  /** Says what to do once when the transport has let go of the call, at once if it has. */
  void onClosed(Runnable action) {
    var unused = closed.thenRun(action);
  }

  /** Says how the call is ended where its request goes over the budget. */
  void onOverBudget(Consumer<Refusal> end) {
    onOverBudget = end;
  }

  /** Says that the request has arrived whole, or is not wanted any more. */
  void requestIsWhole() {
    long bytes = partialBytes.getAndSet(0);
    if (bytes != 0) {
      budgets.partial().release(bytes);
    }
  }

  @Override
  public void inboundWireSize(long bytes) {
    if (overBudget) {
      // The call is being ended. Thousands of further pieces can be in the buffer that was read.
      return;
    }
    long cost = bytes + PIECE_BYTES;
    boolean first = partialBytes.getAndAdd(cost) == 0;
    boolean fits = budgets.partial().hold(cost);
    // Most requests come in one piece: half of the budget is for those alone.
    if (!fits || (!first && budgets.partial().isHalfHeld())) {
      overBudget = true;
      budgets.refusals().count(Limit.PARTIAL_REQUESTS);
      onOverBudget.accept(
          Statuses.limitReached(
              "the requests that have not arrived whole hold as many bytes as they may in all, which is "
                  + budgets.partial().max()));
    }
  }

  @Override
  public void inboundMessageRead(int sequence, long wireBytes, long bytes) {
    // Who may send one request only is heard when he says that there is no more: until then, it is
    // held.
    if (wholeWithMessage) {
      requestIsWhole();
    }
  }

  /**
   * Returns whether the client has cancelled the call, by its own decision: a connection that broke
   * is none, and neither is a deadline of the call that has passed by now. To be asked as soon as
   * the call has ended.
   */
  public boolean isCancelledByClient() {
    return status.filter(this::isCancel).isPresent() && deadline.filter(this::passes).isEmpty();
  }

  private boolean isCancel(Status ended) {
    if (ended.getCode() != Code.CANCELLED) {
      return false;
    }
    // In the process nothing breaks by itself, and the text is whatever the client says.
    return inProcess
        ? !CONNECTION_BROKE.equals(ended.getDescription())
        : RESET_BY_CANCEL.equals(ended.getDescription());
  }

  private boolean passes(Deadline of) {
    return of.timeRemaining(TimeUnit.NANOSECONDS) <= slackNanos;
  }

  @Override
  public Context filterContext(Context context) {
    return context.withValue(KEY, this);
  }

  @Override
  public void serverCallStarted(ServerCallInfo<?, ?> call) {
    SocketAddress client = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
    wholeWithMessage = !call.getMethodDescriptor().getType().clientSendsOneMessage();
    inProcess = client instanceof InProcessSocketAddress;
  }

  @Override
  public void streamClosed(Status ended) {
    status = Optional.of(ended);
    requestIsWhole();
    closed.complete(null);
  }
}
