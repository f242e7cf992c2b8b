package io.lockkeeper.spring.autoconfigure;

import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerCredentials;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.lockkeeper.v1.LockServiceGrpc;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLSession;

/** Listens on a port, permits nobody anything, and remembers who asked. */
final class RefusingServer implements ServerInterceptor, AutoCloseable {

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  /** How a call came. */
  record Call(Optional<String> authorization, Optional<SSLSession> tls) {}

  private final List<Call> calls = new CopyOnWriteArrayList<>();
  private final Server server;

  RefusingServer(ServerCredentials credentials) {
    try {
      server =
          Grpc.newServerBuilderForPort(0, credentials)
              .addService(new LockServiceGrpc.LockServiceImplBase() {})
              .intercept(this)
              .build()
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    calls.add(
        new Call(
            Optional.ofNullable(headers.get(AUTHORIZATION)),
            Optional.ofNullable(call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION))));
    call.close(Status.PERMISSION_DENIED, new Metadata());
    return new ServerCall.Listener<>() {};
  }

  int port() {
    return server.getPort();
  }

  List<Call> calls() {
    return calls;
  }

  @Override
  public void close() {
    server.shutdownNow();
  }
}
