package io.lockkeeper.conformance;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A server that does nothing by itself: a script says what it answers. */
final class ScriptedServer implements AutoCloseable {

  private static final Context.Key<SocketAddress> PEER = Context.key("peer");

  private final String name;
  private final Transcript transcript;
  private final Mailbox<ServedStream> streams = new Mailbox<>();
  private final AtomicInteger opened = new AtomicInteger();
  private final Server server;

  ScriptedServer(String name, Transcript transcript) throws IOException {
    this.name = name;
    this.transcript = transcript;
    server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .intercept(new PeerAddress())
            .addService(new Sessions())
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

  /** No client will come any more: who waits for one need not. */
  void endWith(String why) {
    streams.end(why);
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
