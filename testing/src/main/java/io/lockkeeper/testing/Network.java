package io.lockkeeper.testing;

import io.grpc.ForwardingServerCall;
import io.grpc.ForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.lockkeeper.client.internal.loop.Loop;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What lies between the in-memory server and its clients: delays messages, holds them back, cuts
 * streams. On the server's loop, where it also brings what the services send from other threads.
 */
final class Network implements ServerInterceptor {

  private final Loop loop;
  private final Set<Call<?, ?>> calls = new LinkedHashSet<>();
  private volatile boolean frozen;
  private boolean unreachable;
  private long requestDelayNanos;
  private long responseDelayNanos;

  Network(Loop loop) {
    this.loop = loop;
  }

  /** Holds everything back, in both directions, or lets it go. */
  void freeze(boolean hold) {
    frozen = hold;
    List.copyOf(calls).forEach(Call::pump);
  }

  /** Sets whether new calls are rejected. */
  void unreachable(boolean rejectsCalls) {
    unreachable = rejectsCalls;
  }

  void delay(long requestNanos, long responseNanos) {
    requestDelayNanos = requestNanos;
    responseDelayNanos = responseNanos;
  }

  /** Ends all calls as a broken connection does. */
  void cut() {
    List.copyOf(calls).forEach(Call::cut);
  }

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
    if (unreachable) {
      call.close(Status.UNAVAILABLE.withDescription("unreachable"), new Metadata());
      return new ServerCall.Listener<>() {};
    }
    Call<Q, R> carried = new Call<>(call);
    calls.add(carried);
    carried.service = next.startCall(carried, headers);
    return carried.requests();
  }

  /** Messages in one direction of one call, in order. */
  private final class Line {
    private final ArrayDeque<Message> messages = new ArrayDeque<>();

    void carry(long delayNanos, Runnable delivery) {
      messages.add(new Message(loop.nanos() + delayNanos, delivery));
      pump();
    }

    void pump() {
      while (!frozen && !messages.isEmpty()) {
        long wait = messages.element().dueNanos() - loop.nanos();
        if (wait > 0) {
          loop.schedule(wait, this::pump);
          return;
        }
        messages.remove().delivery().run();
      }
    }
  }

  private record Message(long dueNanos, Runnable delivery) {}

  /** One call as the service sees it. */
  private final class Call<Q, R> extends ForwardingServerCall.SimpleForwardingServerCall<Q, R> {
    private final Line in = new Line();
    private final Line out = new Line();
    private ServerCall.Listener<Q> service = new ServerCall.Listener<>() {};
    private boolean over;
    private boolean severed;

    Call(ServerCall<Q, R> call) {
      super(call);
    }

    void pump() {
      in.pump();
      out.pump();
      if (!over && isReady()) {
        service.onReady(); // It was not while messages were held back.
      }
    }

    void cut() {
      over();
      severed = true;
      delegate().close(Status.UNAVAILABLE.withDescription("connection cut"), new Metadata());
      service.onCancel();
    }

    private void over() {
      over = true;
      calls.remove(this);
    }

    @Override
    public boolean isReady() {
      return !frozen && super.isReady();
    }

    @Override
    public void sendMessage(R message) {
      loop.execute(
          () ->
              out.carry(responseDelayNanos, () -> deliver(() -> delegate().sendMessage(message))));
    }

    @Override
    public void close(Status status, Metadata trailers) {
      loop.execute(
          () ->
              out.carry(
                  responseDelayNanos,
                  () ->
                      deliver(
                          () -> {
                            over();
                            delegate().close(status, trailers);
                          })));
    }

    private void deliver(Runnable delivery) {
      if (!over) {
        delivery.run();
      }
    }

    ServerCall.Listener<Q> requests() {
      return new ForwardingServerCallListener<>() {
        @Override
        protected ServerCall.Listener<Q> delegate() {
          return service;
        }

        @Override
        public void onMessage(Q message) {
          in.carry(requestDelayNanos, () -> deliver(() -> service.onMessage(message)));
        }

        @Override
        public void onHalfClose() {
          in.carry(requestDelayNanos, () -> deliver(service::onHalfClose));
        }

        @Override
        public void onComplete() {
          if (!severed) {
            service.onComplete();
          }
        }

        @Override
        public void onCancel() {
          in.carry(
              requestDelayNanos,
              () -> {
                if (!severed) {
                  over();
                  service.onCancel();
                }
              });
        }
      };
    }
  }
}
