package io.lockkeeper.server.web.api;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.lockkeeper.server.web.http.EventStream;
import io.lockkeeper.server.web.http.Page;
import io.lockkeeper.server.web.http.Response;
import io.lockkeeper.v1.WatchResponse;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * One call of gRPC whose answer goes out over HTTP: whole, or message after message, {@value
 * #WINDOW} ahead of a visitor at most. A stream that ends before its first message is answered with
 * its error as a status; what comes later is a line, or an event, of the stream. All on the
 * connection's thread.
 */
final class ApiCall extends ClientCall.Listener<Message> implements EventStream.Source {

  private static final String LINES = "application/x-ndjson";
  private static final String EVENTS = "text/event-stream; charset=utf-8";

  /** A comment, which a browser does not tell its page of. */
  private static final String HEARTBEAT = ":\n\n";

  /** Longer than the coordinator takes at most. */
  private static final long UNARY_SECONDS = 15;

  /**
   * A watch that goes on where another ended may have nothing to tell: then it begins all the same.
   */
  private static final long QUIET_SECONDS = 1;

  /** How many messages of a stream may be on their way: a snapshot of many locks is as many. */
  private static final int WINDOW = 64;

  private static final JsonFormat.Printer PRINTER =
      JsonFormat.printer().omittingInsignificantWhitespace();

  private final ClientCall<Message, Message> call;
  private final boolean streams;
  private final boolean asEvents;
  private final String contentType;
  private final CompletableFuture<Response> answer = new CompletableFuture<>();
  private final Queue<Message> waiting = new ArrayDeque<>();
  private Optional<EventStream.Sink> sink = Optional.empty();
  private Optional<String> end = Optional.empty();
  private int taken;

  private ApiCall(Route route, Channel channel, ScheduledExecutorService thread) {
    this.streams = route.streams();
    this.asEvents = isWatch(route);
    this.contentType = contentType(route);
    CallOptions options = CallOptions.DEFAULT.withExecutor(thread);
    this.call =
        channel.newCall(
            untyped(route.call()),
            streams ? options : options.withDeadlineAfter(UNARY_SECONDS, TimeUnit.SECONDS));
  }

  private static boolean isWatch(Route route) {
    return route.response() instanceof WatchResponse;
  }

  /** Returns the type of what a route is answered with. */
  static String contentType(Route route) {
    if (isWatch(route)) {
      return EVENTS;
    }
    return route.streams() ? LINES : Errors.JSON_TYPE;
  }

  @SuppressWarnings("unchecked") // Messages of the call's own types go in and come out.
  private static MethodDescriptor<Message, Message> untyped(MethodDescriptor<?, ?> call) {
    return (MethodDescriptor<Message, Message>) call;
  }

  /**
   * Makes the call.
   *
   * @return the answer; cancelling it cancels the call
   */
  static CompletableFuture<Response> start(
      Route route, Message request, Channel channel, ScheduledExecutorService thread) {
    ApiCall started = new ApiCall(route, channel, thread);
    started.call.start(started, new Metadata());
    started.call.request(started.streams ? WINDOW : 2);
    started.call.sendMessage(request);
    started.call.halfClose();
    if (started.asEvents) {
      var unusedToo = thread.schedule(started::begin, QUIET_SECONDS, TimeUnit.SECONDS);
    }
    var unused =
        started.answer.whenComplete(
            (answer, failure) -> {
              if (started.answer.isCancelled()) {
                started.onGone();
              }
            });
    return started.answer;
  }

  @Override
  public void onMessage(Message message) {
    if (sink.isPresent()) {
      send(message);
      return;
    }
    waiting.add(message);
    if (streams) {
      begin();
    }
  }

  private void begin() {
    if (!answer.isDone()) {
      answer.complete(new EventStream(contentType, this));
    }
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    if (!streams && status.isOk() && !waiting.isEmpty()) {
      answer.complete(new Page(200, contentType, json(waiting.remove()) + "\n"));
    } else if (!answer.isDone()) {
      answer.complete(
          status.isOk() && streams
              ? new Page(200, contentType, "")
              : Errors.page(status, trailers));
    } else {
      String last = status.isOk() ? "" : last(Errors.line(Errors.error(status, trailers)));
      end = Optional.of(last);
      sink.ifPresent(out -> finish(out, last));
    }
  }

  private String last(String error) {
    return asEvents ? "event: error\ndata: " + error + "\n\n" : "{\"error\":" + error + "}\n";
  }

  private static void finish(EventStream.Sink out, String last) {
    out.send(last);
    out.end();
  }

  @Override
  public void start(EventStream.Sink out) {
    sink = Optional.of(out);
    while (!waiting.isEmpty()) {
      send(waiting.remove());
    }
    end.ifPresent(last -> finish(out, last));
  }

  private void send(Message message) {
    String json = json(message);
    String piece = asEvents ? event(message, json) : json + "\n";
    EventStream.Sink out = sink.orElseThrow();
    out.send(piece);
    taken++;
    if (taken >= WINDOW / 2 && out.hasRoom()) {
      requestMore();
    }
  }

  private void requestMore() {
    int more = taken;
    taken = 0;
    call.request(more);
  }

  /** Its id is what a visitor who comes back has seen last; in a snapshot there is none. */
  private static String event(Message message, String json) {
    if (message instanceof WatchResponse watched && watched.hasHeartbeat()) {
      return HEARTBEAT;
    }
    long revision = message instanceof WatchResponse watched ? watched.getRevision() : 0;
    return (revision == 0 ? "" : "id: " + revision + "\n") + "data: " + json + "\n\n";
  }

  private static String json(Message message) {
    try {
      return PRINTER.print(message);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("a message of ours is no JSON", e);
    }
  }

  @Override
  public void onRoom() {
    if (taken > 0) {
      requestMore();
    }
  }

  @Override
  public void onGone() {
    call.cancel("the visitor has gone", null);
  }
}
