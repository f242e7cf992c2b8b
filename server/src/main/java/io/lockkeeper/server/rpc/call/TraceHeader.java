package io.lockkeeper.server.rpc.call;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.lockkeeper.server.core.api.AcquireCommand;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The W3C trace context that a call comes with, in the header {@code traceparent}. On a call that
 * asks for one acquisition it becomes part of what the acquisition says of itself, where its client
 * traces: so it reaches whoever traces here, and those who wait elsewhere.
 */
public final class TraceHeader {

  private static final Metadata.Key<String> HEADER =
      Metadata.Key.of(AcquireCommand.TRACEPARENT, Metadata.ASCII_STRING_MARSHALLER);

  // Of calls that are sampled only.
  private static final Pattern SAMPLED =
      Pattern.compile("00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f][13579bdf]");

  private static final Context.Key<Optional<String>> CURRENT =
      Context.keyWithDefault(AcquireCommand.TRACEPARENT, Optional.empty());

  private TraceHeader() {}

  private static Optional<String> in(Metadata headers) {
    return Optional.ofNullable(headers.get(HEADER))
        .filter(value -> SAMPLED.matcher(value).matches());
  }

  /**
   * Returns what reads the header of calls. Without it, where nothing is traced, {@link #addTo}
   * adds nothing: no request is stored with what its client did not put there.
   */
  public static ServerInterceptor reader() {
    return new ServerInterceptor() {
      @Override
      public <Q, R> ServerCall.Listener<Q> interceptCall(
          ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        Optional<String> found = in(headers);
        return found.isPresent()
            ? Contexts.interceptCall(
                Context.current().withValue(CURRENT, found), call, headers, next)
            : next.startCall(call, headers);
      }
    };
  }

  /**
   * Adds what {@code from} has to the headers of the same request at another coordinator, which may
   * trace though this one does not.
   */
  public static void copy(Metadata from, Metadata to) {
    in(from).ifPresent(value -> to.put(HEADER, value));
  }

  /** Returns a command with the trace context of the current call, if it names none itself. */
  public static AcquireCommand addTo(AcquireCommand command) {
    Optional<String> current = CURRENT.get();
    if (current.isEmpty() || command.metadata().containsKey(AcquireCommand.TRACEPARENT)) {
      return command;
    }
    Map<String, String> metadata = new HashMap<>(command.metadata());
    metadata.put(AcquireCommand.TRACEPARENT, current.get());
    return command.describedBy(metadata);
  }
}
