package io.lockkeeper.conformance;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.CloseLeaseResponse;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A server that does nothing by itself: a script says what it answers. */
final class ScriptedServer implements AutoCloseable {

  private static final Context.Key<SocketAddress> PEER = Context.key("peer");

  private final String name;
  private final Transcript transcript;
  private final Mailbox<ServedStream> streams = new Mailbox<>();
  private final Mailbox<String> closings = new Mailbox<>();
  private final AtomicBoolean refusesClosing = new AtomicBoolean();
  private final AtomicInteger opened = new AtomicInteger();
  private final Server server;

  ScriptedServer(String name, Transcript transcript) throws IOException {
    this.name = name;
    this.transcript = transcript;
    server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .intercept(new PeerAddress())
            .addService(new Sessions())
            .addService(new Leases())
            .build()
            .start();
  }

  /** Returns where it listens. */
  String address() {
    return "127.0.0.1:" + server.getPort();
  }

  /** Takes the next stream that a client begins here, waiting for it. */
  ServedStream stream() {
    return streams.await("a session stream at " + name, stream -> true);
  }

  /** Takes the next stream that was begun here, if there is one. */
  Optional<ServedStream> streamIfThere() {
    return streams.poll(any -> true);
  }

  /** Takes the streams that were begun here and that nobody has asked for. */
  List<ServedStream> furtherStreams() {
    return Stream.generate(this::streamIfThere)
        .takeWhile(Optional::isPresent)
        .flatMap(Optional::stream)
        .toList();
  }

  /** The next call that closes a lease fails with UNAVAILABLE; the others succeed. */
  void refusesNextClosing() {
    refusesClosing.set(true);
  }

  /** Waits for a call that closes that lease. */
  void awaitClosing(String leaseId) {
    String unused = closings.await("a CloseLease of " + leaseId, leaseId::equals);
  }

  /** Returns whether a call that closes a lease is there and was not asked for. */
  boolean hasClosing() {
    return closings.poll(any -> true).isPresent();
  }

  /** No client will come any more: who waits for one need not. */
  void endWith(String why) {
    streams.end(why);
    closings.end(why);
  }

  /** Drops every connection and refuses new ones. */
  @Override
  public void close() {
    transcript.add("kit", name + " is gone");
    server.shutdownNow();
  }

  private final class Sessions extends LockServiceGrpc.LockServiceImplBase {
    @Override
    public StreamObserver<SessionRequest> session(StreamObserver<SessionResponse> responses) {
      String streamName = name + "/" + opened.incrementAndGet();
      ServedStream stream =
          new ServedStream(
              streamName,
              PEER.get(),
              (ServerCallStreamObserver<SessionResponse>) responses,
              transcript);
      streams.add(stream);
      return stream;
    }
  }

  private final class Leases extends LeaseServiceGrpc.LeaseServiceImplBase {
    @Override
    public void closeLease(
        CloseLeaseRequest request, StreamObserver<CloseLeaseResponse> responses) {
      boolean isRefused = refusesClosing.getAndSet(false);
      transcript.add(
          name + " ->",
          "CloseLease " + request.getLeaseId() + (isRefused ? ", answered UNAVAILABLE" : ""));
      if (isRefused) {
        responses.onError(Status.UNAVAILABLE.asRuntimeException());
      } else {
        responses.onNext(CloseLeaseResponse.getDefaultInstance());
        responses.onCompleted();
      }
      closings.add(request.getLeaseId());
    }
  }

  /** Lets a stream know from which connection it came. */
  private static final class PeerAddress implements ServerInterceptor {
    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
      SocketAddress peer = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
      return Contexts.interceptCall(Context.current().withValue(PEER, peer), call, headers, next);
    }
  }
}
