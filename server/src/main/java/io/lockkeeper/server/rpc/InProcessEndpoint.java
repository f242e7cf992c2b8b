package io.lockkeeper.server.rpc;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.lockkeeper.server.rpc.call.Authentication;
import io.lockkeeper.server.rpc.call.CallEnd;
import io.lockkeeper.server.rpc.call.ConnectionAge;
import io.lockkeeper.server.rpc.call.ConnectionIdentity;
import io.lockkeeper.server.security.Identity;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The services for those who come over HTTP: the same ones, without a network in between. To the
 * services a visitor's call comes from his address, and his certificate counts as if gRPC had seen
 * it. Started once and stopped once.
 */
final class InProcessEndpoint {

  private static final Metadata.Key<String> NUMBER =
      Metadata.Key.of("lockkeeper-visitor", Metadata.ASCII_STRING_MARSHALLER);

  private final Server server;
  private final ManagedChannel channel;
  // From when a call is started until it has arrived, or ended without.
  private final ConcurrentMap<String, Attributes> arriving = new ConcurrentHashMap<>();
  private final AtomicLong last = new AtomicLong();
  private final ConnectionAge age;

  /**
   * Prepares.
   *
   * @param name a name that no other server of the process has
   * @param age when streams leave: over HTTP each has a connection of its own
   */
  InProcessEndpoint(GrpcServices services, String name, ConnectionAge age) {
    this.age = age;
    InProcessServerBuilder builder = InProcessServerBuilder.forName(name);
    var unused = services.addTo(builder);
    this.server = builder.intercept(new Arrival()).build();
    this.channel = InProcessChannelBuilder.forName(name).directExecutor().build();
  }

  void start() throws IOException {
    var unused = server.start();
  }

  /** Ends what is still open. Idempotent. */
  void stop() {
    channel.shutdownNow();
    server.shutdownNow();
  }

  /**
   * Returns a channel for a visitor's calls. One that is cancelled counts as one whose connection
   * broke.
   *
   * @param address where he comes from
   * @param certified whom his certificate names
   * @param token his bearer token
   */
  Channel channel(InetSocketAddress address, Optional<Identity> certified, Optional<String> token) {
    Attributes known =
        ConnectionIdentity.certified(
            age.transportReady(
                Attributes.newBuilder().set(Grpc.TRANSPORT_ATTR_REMOTE_ADDR, address).build()),
            certified);
    return ClientInterceptors.intercept(
        channel,
        new ClientInterceptor() {
          @Override
          public <Q, R> ClientCall<Q, R> interceptCall(
              MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            return new Departure<>(next.newCall(method, options), known, token);
          }
        });
  }

  /** A call that says whose it is. */
  private final class Departure<Q, R> extends SimpleForwardingClientCall<Q, R> {

    private final Attributes known;
    private final Optional<String> token;

    Departure(ClientCall<Q, R> call, Attributes known, Optional<String> token) {
      super(call);
      this.known = known;
      this.token = token;
    }

    @Override
    public void start(Listener<R> listener, Metadata headers) {
      String number = Long.toString(last.incrementAndGet());
      headers.put(NUMBER, number);
      token.ifPresent(of -> Authentication.addToken(headers, of));
      arriving.put(number, known);
      super.start(
          new SimpleForwardingClientCallListener<>(listener) {
            @Override
            public void onClose(Status status, Metadata trailers) {
              arriving.remove(number);
              super.onClose(status, trailers);
            }
          },
          headers);
    }

    @Override
    public void cancel(@Nullable String message, @Nullable Throwable cause) {
      super.cancel(CallEnd.CONNECTION_BROKE, null);
    }
  }

  /** Tells the services whose call it is. */
  private final class Arrival implements ServerInterceptor {
    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      Attributes known = arriving.remove(String.valueOf(headers.get(NUMBER)));
      headers.discardAll(NUMBER);
      if (known == null) {
        throw new IllegalStateException("a call of no visitor");
      }
      return next.startCall(
          new SimpleForwardingServerCall<>(call) {
            @Override
            public Attributes getAttributes() {
              return known;
            }
          },
          headers);
    }
  }
}
