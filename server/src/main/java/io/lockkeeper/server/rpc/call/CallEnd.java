package io.lockkeeper.server.rpc.call;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.grpc.Status.Code;
import java.util.Optional;

/**
 * Knows how a call ended that was cut short: gRPC tells its handler the same of a client that
 * cancelled and of a connection that broke, and only the transport knows better.
 */
public final class CallEnd extends ServerStreamTracer {

  /** Makes one for each call. */
  public static final Factory FACTORY =
      new Factory() {
        @Override
        public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
          return new CallEnd();
        }
      };

  private static final Context.Key<CallEnd> KEY = Context.key("call-end");
  // HTTP/2's CANCEL. A reset with another code is a fault on the way.
  private static final String RESET = "RST_STREAM received for code ";
  private static final String RESET_BY_CANCEL = RESET + "8";

  private volatile Optional<Status> status = Optional.empty();

  private CallEnd() {}

  /** Returns that of the current call; one that never ends, where the transport has no tracers. */
  public static CallEnd ofCurrentCall() {
    CallEnd current = KEY.get();
    return current == null || Context.current().getDeadline() != null ? new CallEnd() : current;
  }

  /**
   * Returns whether the client has cancelled the call, by its own decision: a connection that broke
   * is none, and neither is a deadline of the call that passed, so no call that has one counts.
   */
  public boolean isCancelledByClient() {
    return status
        .filter(ended -> ended.getCode() == Code.CANCELLED)
        .map(ended -> String.valueOf(ended.getDescription()))
        .filter(text -> !text.startsWith(RESET) || text.equals(RESET_BY_CANCEL))
        .isPresent();
  }

  @Override
  public Context filterContext(Context context) {
    return context.withValue(KEY, this);
  }

  @Override
  public void streamClosed(Status ended) {
    status = Optional.of(ended);
  }
}
