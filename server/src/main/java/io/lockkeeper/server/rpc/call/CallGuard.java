package io.lockkeeper.server.rpc.call;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.server.rpc.wire.PeerHeaders;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.Statuses;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Stands around every call: knows the peer, ends a call with the status that its exception stands
 * for, and lets nothing be sent on a call that has ended.
 */
public final class CallGuard implements ServerInterceptor {

  private static final Context.Key<String> PEER = Context.keyWithDefault("peer", "unknown");
  private static final Context.Key<Optional<ConnectionAge.AgedConnection>> CONNECTION =
      Context.keyWithDefault("connection", Optional.empty());

  private static final Context.Key<Optional<EndOnce<?, ?>>> GUARDED =
      Context.keyWithDefault("guarded", Optional.empty());

  private static final Duration FAR = Duration.ofDays(365);

  /** Shorter than clients wait for any response. */
  private static final long ERROR_DELAY_MILLIS = 1_000;

  private final Set<EndOnce<?, ?>> open = ConcurrentHashMap.newKeySet();
  private final CallAdmission admission;
  private final ScheduledExecutorService timer;
  private final RpcStats stats;

  /**
   * Makes one for calls that {@code admission} lets in.
   *
   * @param timer for errors that are delayed
   * @param stats where it is counted how calls end
   */
  public CallGuard(CallAdmission admission, ScheduledExecutorService timer, RpcStats stats) {
    this.admission = admission;
    this.timer = timer;
    this.stats = stats;
  }

  /**
   * Delays an error of the current call by {@value #ERROR_DELAY_MILLIS} ms, so that each open call
   * of a caller that exceeds its limit costs at most one rejection per second.
   *
   * @param condition evaluated when there is an error
   */
  static void delayErrorsIf(BooleanSupplier condition) {
    GUARDED.get().ifPresent(call -> call.isDelayed = condition);
  }

  /** Ends the calls whose clients have not said within their time what they want. */
  public void endOverdue(long nowNanos) {
    for (EndOnce<?, ?> call : open) {
      if (call.waits && admission.isOverdue(call.startNanos, nowNanos)) {
        call.end(admission.overdue().toException());
      }
    }
  }

  /** Returns how many calls are open. */
  public int openCalls() {
    return admission.open();
  }

  /** Ends all calls that are open. */
  public void endAll(Refusal why) {
    open.forEach(call -> call.end(why.toException()));
  }

  /** Returns the address of the client of the current call. */
  public static String peer() {
    return PEER.get();
  }

  /** Returns until when the current call's stream may stay, if that is limited. */
  public static Optional<ConnectionAge.AgedConnection> connection() {
    return CONNECTION.get();
  }

  /** Says that streams of the call should leave after a time, if not earlier. */
  static Context leavingAfter(Duration time, Context context) {
    Duration finite = time.compareTo(FAR) < 0 ? time : FAR;
    long at = System.nanoTime() + finite.toNanos();
    return context.withValue(
        CONNECTION,
        Optional.of(
            CONNECTION
                .get(context)
                .map(connection -> connection.notAfter(at))
                .orElseGet(() -> new ConnectionAge.AgedConnection(at, at))));
  }

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
    EndOnce<Q, R> guarded = new EndOnce<>(call, open, timer, stats);
    // A transport without tracers never says when a call is over; production's has them.
    Optional<CallEnd> end = CallEnd.current();
    Optional<Refusal> refusal =
        admission.refusalOf(headers).or(() -> end.flatMap(of -> admission.admit(call, of)));
    if (refusal.isPresent()) {
      guarded.fail(refusal.get().toException());
      return new ServerCall.Listener<>() {};
    }
    end.ifPresent(of -> of.onOverBudget(over -> guarded.end(over.toException())));
    // What the client has not read waits here, where it is counted, and not in the transport, which
    // takes a whole buffer for each message.
    call.setOnReadyThreshold(1);
    open.add(guarded);
    // What a peer has forwarded belongs to its clients' connections, not to its own.
    boolean forwarded = headers.containsKey(PeerHeaders.FORWARDED_BY);
    Context context =
        Context.current()
            .withValue(PEER, peerOf(call))
            .withValue(GUARDED, Optional.of(guarded))
            .withValue(
                CONNECTION, forwarded ? Optional.empty() : ConnectionAge.of(call.getAttributes()));
    try {
      return new Guarded<>(Contexts.interceptCall(context, guarded, headers, next), guarded, end);
    } catch (RuntimeException e) {
      guarded.fail(Statuses.of(e).toException());
      return new ServerCall.Listener<>() {};
    }
  }

  private static String peerOf(ServerCall<?, ?> call) {
    SocketAddress address = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
    if (address instanceof InetSocketAddress inet && inet.getAddress() != null) {
      return inet.getAddress().getHostAddress() + ":" + inet.getPort();
    }
    return String.valueOf(address);
  }

  /** A call that takes one end and drops what comes later. */
  private static final class EndOnce<Q, R> extends SimpleForwardingServerCall<Q, R> {

    /** Its end is decided, and may have to wait; what comes later is dropped. */
    private final AtomicBoolean ending = new AtomicBoolean();

    private final AtomicBoolean ended = new AtomicBoolean();

    private final Set<EndOnce<?, ?>> open;

    private final long startNanos = System.nanoTime();
    private final ScheduledExecutorService timer;
    private final RpcStats stats;
    private volatile boolean waits = true;
    private volatile BooleanSupplier isDelayed = () -> false;
    private volatile Optional<Future<?>> delayed = Optional.empty();

    EndOnce(
        ServerCall<Q, R> call,
        Set<EndOnce<?, ?>> open,
        ScheduledExecutorService timer,
        RpcStats stats) {
      super(call);
      this.stats = stats;
      this.open = open;
      this.timer = timer;
    }

    /** Notes that the transport is done with the call. */
    void gone() {
      ending.set(true);
      if (ended.compareAndSet(false, true)) {
        stats.callEnded(Status.CANCELLED, new Metadata());
      }
      open.remove(this);
      delayed.ifPresent(of -> of.cancel(false)); // It would keep the call in memory.
    }

    void fail(StatusRuntimeException status) {
      close(status.getStatus(), trailersOf(status));
    }

    /** Ends the call without a delay. */
    void end(StatusRuntimeException status) {
      ending.set(true);
      closeNow(status.getStatus(), trailersOf(status));
    }

    private static Metadata trailersOf(StatusRuntimeException status) {
      Metadata trailers = status.getTrailers();
      return trailers == null ? new Metadata() : trailers;
    }

    @Override
    public void sendHeaders(Metadata headers) {
      if (!ending.get()) {
        super.sendHeaders(headers);
      }
    }

    @Override
    public void sendMessage(R message) {
      if (!ending.get()) {
        super.sendMessage(message);
      }
    }

    @Override
    public void close(Status status, Metadata trailers) {
      if (!ending.compareAndSet(false, true)) {
        return;
      }
      if (!status.isOk() && isDelayed.getAsBoolean()) {
        waits = false;
        delayed =
            Optional.of(
                timer.schedule(
                    () -> closeNow(status, trailers), ERROR_DELAY_MILLIS, TimeUnit.MILLISECONDS));
        if (ended.get()) {
          delayed.ifPresent(of -> of.cancel(false));
        }
      } else {
        closeNow(status, trailers);
      }
    }

    private void closeNow(Status status, Metadata trailers) {
      if (ended.compareAndSet(false, true)) {
        open.remove(this);
        stats.callEnded(status, trailers);
        super.close(status, trailers);
      }
    }
  }

  /** Maps what a service method throws. */
  private static final class Guarded<Q, R> extends SimpleForwardingServerCallListener<Q> {

    private final EndOnce<Q, R> call;
    private final Optional<CallEnd> end;
    private final boolean wholeWithMessage;

    Guarded(ServerCall.Listener<Q> delegate, EndOnce<Q, R> call, Optional<CallEnd> end) {
      super(delegate);
      this.call = call;
      this.end = end;
      this.wholeWithMessage = !call.getMethodDescriptor().getType().clientSendsOneMessage();
    }

    @Override
    public void onMessage(Q message) {
      if (wholeWithMessage) {
        call.waits = false;
      }
      guard(() -> super.onMessage(message));
    }

    @Override
    public void onHalfClose() {
      call.waits = false;
      end.ifPresent(CallEnd::requestIsWhole);
      guard(super::onHalfClose);
    }

    @Override
    public void onReady() {
      guard(super::onReady);
    }

    @Override
    public void onCancel() {
      call.gone();
      guard(super::onCancel);
    }

    @Override
    public void onComplete() {
      call.gone();
      guard(super::onComplete);
    }

    private void guard(Runnable step) {
      try {
        step.run();
      } catch (RuntimeException e) {
        call.fail(Statuses.of(e).toException());
      }
    }
  }
}
