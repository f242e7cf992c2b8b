package io.lockkeeper.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.AbstractStub;
import io.lockkeeper.client.internal.Loop;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.CheckTokenRequest;
import io.lockkeeper.v1.CheckTokenResponse;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.ForceReleaseResponse;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.ListLocksResponse;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.RequestReleaseRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Stream;

/** Questions that one call answers, on a connection apart from the lease's. */
final class Queries implements AutoCloseable {

  private static final int PAGE_SIZE = 500;

  private final Settings settings;
  private final Loop loop;
  private final Servers servers;
  private Optional<ManagedChannel> channel = Optional.empty();
  private boolean closed;

  Queries(Surroundings around) {
    this.settings = around.settings();
    this.loop = around.loop();
    this.servers = new Servers(settings, around.discovery());
  }

  LockInfo getLock(String name) {
    GetLockRequest request = GetLockRequest.newBuilder().setName(name).build();
    return Protos.toLockInfo(ask(stub -> stub.getLock(request)).getLock());
  }

  TokenCheck checkToken(String name, long token) {
    CheckTokenRequest request =
        CheckTokenRequest.newBuilder().setName(name).setFencingToken(token).build();
    CheckTokenResponse answer = ask(stub -> stub.checkToken(request));
    return new TokenCheck(answer.getCurrent(), answer.getCurrentTokensList());
  }

  List<Contender> requestRelease(String name, String reason, Optional<Duration> deadline) {
    RequestReleaseRequest.Builder request =
        RequestReleaseRequest.newBuilder()
            .setName(name)
            .setReason(Limits.reason(reason))
            .setRequester(settings.holder());
    deadline.map(Protos::toProto).ifPresent(request::setDeadline);
    return Protos.toContenders(ask(stub -> stub.requestRelease(request.build())).getHoldersList());
  }

  OptionalInt configureLock(String name, int limit) {
    boolean inRange = limit >= 0 && limit <= LockSpec.MAX_PERMITS;
    Limits.require(inRange, "limit", "1 to 1,000,000, or zero", limit);
    ConfigureLockRequest request =
        ConfigureLockRequest.newBuilder().setName(name).setLimit(limit).build();
    int previous = ask(stub -> stub.configureLock(request)).getPreviousLimit();
    return previous == 0 ? OptionalInt.empty() : OptionalInt.of(previous);
  }

  /** Takes a lock away, with a token of zero from all; with a grace, asks the holders first. */
  int forceRelease(String name, long token, String reason, Optional<Duration> grace) {
    ForceReleaseRequest.Builder request =
        ForceReleaseRequest.newBuilder()
            .setName(name)
            .setFencingToken(token)
            .setReason(Limits.reason(reason));
    grace.map(Protos::toProto).ifPresent(request::setGrace);
    ForceReleaseResponse answer =
        ask(AdminServiceGrpc::newBlockingStub, stub -> stub.forceRelease(request.build()));
    return grace.isPresent() ? answer.getAsked() : answer.getReleased();
  }

  Stream<LockInfo> listLocks(String prefix) {
    return Stream.iterate(
            Optional.of(page(prefix, "")),
            Optional::isPresent,
            page ->
                page.map(ListLocksResponse::getNextPageToken)
                    .filter(token -> !token.isEmpty())
                    .map(token -> page(prefix, token)))
        .flatMap(page -> page.stream().flatMap(p -> p.getLocksList().stream()))
        .map(Protos::toLockInfo);
  }

  private ListLocksResponse page(String prefix, String pageToken) {
    ListLocksRequest request =
        ListLocksRequest.newBuilder()
            .setPrefix(prefix)
            .setPageSize(PAGE_SIZE)
            .setPageToken(pageToken)
            .build();
    return ask(stub -> stub.listLocks(request));
  }

  private <T> T ask(Function<LockServiceGrpc.LockServiceBlockingStub, T> question) {
    return ask(LockServiceGrpc::newBlockingStub, question);
  }

  private <S extends AbstractStub<S>, T> T ask(
      Function<Channel, S> service, Function<S, T> question) {
    if (loop.isCurrentThread()) {
      throw new IllegalStateException(
          "this call waits and must not be made in a callback on the client's own thread");
    }
    Backoff backoff = new Backoff(new SplittableRandom());
    long startedNanos = System.nanoTime();
    for (int failures = 1; ; failures++) {
      long leftNanos =
          Requests.nanos(settings.requestTimeout()) - (System.nanoTime() - startedNanos);
      // A server that does not answer must leave time for the others.
      long tryNanos = failures > servers.count() ? leftNanos : leftNanos / servers.count();
      ManagedChannel via = channel();
      try {
        return question.apply(
            service.apply(via).withDeadlineAfter(Math.max(1, tryNanos), TimeUnit.NANOSECONDS));
      } catch (StatusRuntimeException e) {
        long pauseNanos = backoff.nanosAfter(failures);
        moveOnOrThrow(e, via, leftNanos - pauseNanos);
        LockSupport.parkNanos(pauseNanos);
      }
    }
  }

  private void moveOnOrThrow(StatusRuntimeException e, ManagedChannel via, long leftNanos) {
    if (Thread.currentThread().isInterrupted()) {
      throw new LockkeeperException("interrupted while waiting for a server's answer", e);
    }
    if (!Protos.isPassing(e.getStatus().getCode())) {
      throw refusal(e);
    }
    String failed = moveOn(via);
    if (leftNanos <= 0) {
      throw ServerUnavailableException.of(settings, failed + ": " + e.getStatus(), e);
    }
  }

  private synchronized ManagedChannel channel() {
    if (closed) {
      throw new IllegalStateException("this client is closed: build another one");
    }
    if (channel.isEmpty()) {
      lookUp();
    }
    ManagedChannel open = channel.orElseGet(servers::connect);
    channel = Optional.of(open);
    return open;
  }

  private void lookUp() {
    try {
      servers.refresh();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // The call that follows finds it.
    }
  }

  private synchronized String moveOn(ManagedChannel via) {
    String failed = servers.current();
    if (channel.filter(via::equals).isPresent()) {
      via.shutdownNow();
      channel = Optional.empty();
      servers.moveOn();
    }
    return failed;
  }

  @Override
  public synchronized void close() {
    closed = true;
    channel.ifPresent(ManagedChannel::shutdownNow);
  }

  static RequestRefusedException refusal(StatusRuntimeException e) {
    String description = Optional.ofNullable(e.getStatus().getDescription()).orElse("");
    return new RequestRefusedException(e.getStatus().getCode(), description, field(e));
  }

  private static String field(StatusRuntimeException e) {
    com.google.rpc.Status status = StatusProto.fromThrowable(e);
    List<Any> details = status == null ? List.of() : status.getDetailsList();
    for (Any detail : details) {
      if (detail.is(BadRequest.class)) {
        try {
          return detail.unpack(BadRequest.class).getFieldViolationsList().stream()
              .findFirst()
              .map(BadRequest.FieldViolation::getField)
              .orElse("");
        } catch (InvalidProtocolBufferException broken) {
          return "";
        }
      }
    }
    return "";
  }
}
