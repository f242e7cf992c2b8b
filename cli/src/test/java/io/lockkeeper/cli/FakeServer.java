package io.lockkeeper.cli;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.GetLockResponse;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.ListLeasesRequest;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.ListLocksResponse;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A server on a free port that answers each method with the messages that it was given for it, or
 * with an empty one. It lists {@link #locks} in pages of three.
 */
public final class FakeServer implements AutoCloseable {

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  private static final int PAGE = 3;

  public final List<LockState> locks = new ArrayList<>();

  /** All requests in their order, except those that read locks and leases. */
  public final List<Message> requests = new CopyOnWriteArrayList<>();

  /** The credentials of all calls. */
  public final List<String> authorizations = new CopyOnWriteArrayList<>();

  public final HealthStatusManager health = new HealthStatusManager();

  /** Rejects every request. */
  public Optional<Status> rejection = Optional.empty();

  /** How the next calls end, after their answers; the calls after them succeed. */
  public final Queue<Status> nextEnds = new ConcurrentLinkedQueue<>();

  private final Map<String, Message> prototypes = new HashMap<>();
  private final Map<String, List<Message>> answers = new HashMap<>();
  private final Server server;

  public FakeServer() {
    ServerBuilder<?> builder =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(health.getHealthService())
            .intercept(new Authorizations());
    for (ServiceDescriptor service :
        List.of(
            LockServiceGrpc.getServiceDescriptor(),
            LeaseServiceGrpc.getServiceDescriptor(),
            AdminServiceGrpc.getServiceDescriptor())) {
      ServerServiceDefinition.Builder bound = ServerServiceDefinition.builder(service);
      service.getMethods().forEach(method -> bind(method, bound));
      builder.addService(bound.build());
    }
    try {
      server = builder.build().start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private <Q, R> void bind(MethodDescriptor<Q, R> method, ServerServiceDefinition.Builder bound) {
    String name = method.getBareMethodName();
    if (method.getType() == MethodType.BIDI_STREAMING) {
      bound.addMethod(method, ServerCalls.asyncBidiStreamingCall(this::reject));
      return;
    }
    var marshaller = (PrototypeMarshaller<R>) method.getResponseMarshaller();
    prototypes.put(name, (Message) marshaller.getMessagePrototype());
    bound.addMethod(
        method,
        ServerCalls.asyncServerStreamingCall(
            (request, responses) ->
                answer(name, (Message) request, marshaller.getMessageClass(), responses)));
  }

  /** Returns what to give {@code --server}. */
  public String address() {
    return "localhost:" + server.getPort();
  }

  /** Returns an address on which nothing listens. */
  public static String closedAddress() {
    try (ServerSocket socket = new ServerSocket(0)) {
      return "localhost:" + socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Adds an answer to a method.
   *
   * @param method without its service, such as {@code WhoAmI}
   * @param json the answer; one more of them if the method answers with a stream
   */
  public void answer(String method, String json) {
    answers
        .computeIfAbsent(method, first -> new ArrayList<>())
        .add(parse(prototypes.get(method), json));
  }

  /** Adds a lock that somebody holds or waits for. */
  public void lock(String json) {
    locks.add((LockState) parse(LockState.getDefaultInstance(), json));
  }

  private static Message parse(Message prototype, String json) {
    Message.Builder message = prototype.newBuilderForType();
    try {
      JsonFormat.parser().merge(json, message);
    } catch (InvalidProtocolBufferException e) {
      throw new UncheckedIOException(e);
    }
    return message.build();
  }

  private <R> void answer(
      String method, Message request, Class<R> type, StreamObserver<R> responses) {
    List<Message> given = answersTo(method, request);
    Optional<Status> end = rejection.or(() -> Optional.ofNullable(nextEnds.poll()));
    if (rejection.isEmpty()) {
      given.forEach(answer -> responses.onNext(type.cast(answer)));
    }
    end.ifPresentOrElse(
        status -> responses.onError(status.asRuntimeException()), responses::onCompleted);
  }

  private List<Message> answersTo(String method, Message request) {
    if (request instanceof ListLocksRequest list) {
      return List.of(page(list));
    }
    if (request instanceof GetLockRequest one) {
      return List.of(GetLockResponse.newBuilder().setLock(lock(one)).build());
    }
    if (!(request instanceof ListLeasesRequest)) {
      requests.add(request);
    }
    return answers.getOrDefault(method, List.of(prototypes.get(method)));
  }

  private LockState lock(GetLockRequest request) {
    return locks.stream()
        .filter(lock -> lock.getName().equals(request.getName()))
        .findFirst()
        .orElse(LockState.newBuilder().setName(request.getName()).build());
  }

  private ListLocksResponse page(ListLocksRequest request) {
    List<LockState> matching =
        locks.stream().filter(lock -> lock.getName().startsWith(request.getPrefix())).toList();
    int from = request.getPageToken().isEmpty() ? 0 : Integer.parseInt(request.getPageToken());
    int to = Math.min(from + PAGE, matching.size());
    return ListLocksResponse.newBuilder()
        .addAllLocks(matching.subList(from, to))
        .setNextPageToken(to < matching.size() ? Integer.toString(to) : "")
        .build();
  }

  /** Serves no streams of requests: the fake has no lock to grant. */
  private <Q, R> StreamObserver<Q> reject(StreamObserver<R> responses) {
    responses.onError(rejection.orElse(Status.UNIMPLEMENTED).asRuntimeException());
    return new StreamObserver<>() {
      @Override
      public void onNext(Q request) {}

      @Override
      public void onError(Throwable failure) {}

      @Override
      public void onCompleted() {}
    };
  }

  private final class Authorizations implements ServerInterceptor {
    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      Optional.ofNullable(headers.get(AUTHORIZATION)).ifPresent(authorizations::add);
      return next.startCall(call, headers);
    }
  }

  @Override
  public void close() {
    server.shutdownNow();
  }
}
