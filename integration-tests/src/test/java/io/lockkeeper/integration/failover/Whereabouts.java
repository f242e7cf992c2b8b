package io.lockkeeper.integration.failover;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.SessionResponse;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** At which coordinator a client has its session stream, seen from outside the client. */
final class Whereabouts {

  private Optional<Stay> stay = Optional.empty();

  private record Stay(ClientCall<?, ?> call, String address) {}

  /** Returns the coordinator that serves the client's stream; empty if none does. */
  synchronized Optional<String> address() {
    return stay.map(Stay::address);
  }

  private synchronized void arrived(ClientCall<?, ?> call, String address) {
    stay = Optional.of(new Stay(call, address));
  }

  private synchronized void left(ClientCall<?, ?> call) {
    stay = stay.filter(now -> now.call() != call);
  }

  /** Opens a channel as the client would open it itself, and watches what goes over it. */
  ManagedChannel connect(String address) {
    return NettyChannelBuilder.forTarget(address)
        .usePlaintext()
        .keepAliveTime(10, TimeUnit.SECONDS)
        .keepAliveTimeout(5, TimeUnit.SECONDS)
        .keepAliveWithoutCalls(true)
        .directExecutor()
        .intercept(new Watcher(address))
        .build();
  }

  /** Sees session streams come and go. */
  private final class Watcher implements ClientInterceptor {

    private final String address;

    Watcher(String address) {
      this.address = address;
    }

    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(
        MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
      ClientCall<Q, R> call = next.newCall(method, options);
      boolean session =
          method.getFullMethodName().equals(LockServiceGrpc.getSessionMethod().getFullMethodName());
      return session ? new Watched<>(call, address) : call;
    }
  }

  private final class Watched<Q, R> extends SimpleForwardingClientCall<Q, R> {

    private final String address;

    Watched(ClientCall<Q, R> call, String address) {
      super(call);
      this.address = address;
    }

    @Override
    public void start(Listener<R> listener, Metadata headers) {
      super.start(
          new SimpleForwardingClientCallListener<>(listener) {
            @Override
            public void onMessage(R message) {
              if (message instanceof SessionResponse response && response.hasOpened()) {
                arrived(Watched.this, address);
              }
              super.onMessage(message);
            }

            @Override
            public void onClose(Status status, Metadata trailers) {
              left(Watched.this);
              super.onClose(status, trailers);
            }
          },
          headers);
    }
  }
}
