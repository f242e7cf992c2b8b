package io.lockkeeper.client.internal.runtime;

import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.AbstractStub;
import io.lockkeeper.client.Contender;
import io.lockkeeper.client.LockInfo;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.ServerUnavailableException;
import io.lockkeeper.client.TokenCheck;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.context.Settings;
import io.lockkeeper.client.internal.loop.Backoff;
import io.lockkeeper.client.internal.loop.Callbacks;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.protocol.ErrorDetails;
import io.lockkeeper.client.internal.protocol.Limits;
import io.lockkeeper.client.internal.protocol.LockNames;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.client.internal.transport.ServerList;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The calls that ask about locks, or act on others' locks: each is one unary call, on a connection
 * apart from the lease's, and repeated at other servers until one can serve or the request timeout
 * is over. They wait in the calling thread; {@link #async} makes one on a thread of the client's.
 */
public final class UnaryCalls implements AutoCloseable {

  private static final int PAGE_SIZE = 500;
  private static final int MAX_QUEUE = 1_000;
  private static final int ASYNC_THREADS = 2;
  private static final int ASYNC_CAPACITY = 10_000;
  private static final long IDLE_SECONDS = 5;

  private final Settings settings;
  private final Loop loop;
  private final Callbacks callbacks;
  private final UnaryChannel channel;
  private final ThreadPoolExecutor executor =
      new ThreadPoolExecutor(
          ASYNC_THREADS,
          ASYNC_THREADS,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(ASYNC_CAPACITY),
          task -> {
            Thread thread = new Thread(task, "lockkeeper-queries");
            thread.setDaemon(true);
            return thread;
          });

  UnaryCalls(ClientContext context) {
    this.settings = context.settings();
    this.loop = context.loop();
    this.callbacks = context.callbacks();
    this.channel = new UnaryChannel(new ServerList(settings.channels(), context.discovery()));
    executor.allowCoreThreadTimeOut(true); // Most clients never ask: they have no such thread.
  }

  /** Makes a call on a thread of the client's; completes on the callback executor. */
  public <T> CompletableFuture<T> async(Supplier<T> call) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    Runnable task =
        () -> {
          try {
            answer.complete(call.get());
          } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
          }
        };
    try {
      executor.execute(task);
    } catch (RejectedExecutionException e) {
      answer.completeExceptionally(
          new IllegalStateException("this client is closed, or too many calls wait", e));
    }
    return callbacks.relay(answer);
  }

  /** Returns one lock with as many waiters as the server returns by default. */
  public LockInfo getLock(String name) {
    return getLock(GetLockRequest.newBuilder().setName(name).build());
  }

  /** Returns one lock with some of its waiters. */
  public LockInfo getLock(String name, int queueLimit) {
    Limits.require(
        queueLimit >= 0 && queueLimit <= MAX_QUEUE, "queueLimit", "0 to 1,000", queueLimit);
    return getLock(GetLockRequest.newBuilder().setName(name).setQueueLimit(queueLimit).build());
  }

  private LockInfo getLock(GetLockRequest request) {
    return Protos.toLockInfo(ask(request.getName(), stub -> stub.getLock(request)).getLock());
  }

  /** Asks whether a token is current. */
  public TokenCheck checkToken(String name, long token) {
    CheckTokenRequest request =
        CheckTokenRequest.newBuilder().setName(name).setFencingToken(token).build();
    CheckTokenResponse answer = ask(name, stub -> stub.checkToken(request));
    return new TokenCheck(answer.getCurrent(), answer.getCurrentTokensList());
  }

  /** Asks the holders of a lock to give way, and returns them. */
  public List<Contender> requestRelease(String name, String reason, Optional<Duration> deadline) {
    RequestReleaseRequest.Builder request =
        RequestReleaseRequest.newBuilder()
            .setName(name)
            .setReason(Limits.reason(reason))
            .setRequester(settings.holder());
    deadline.map(Protos::toProto).ifPresent(request::setDeadline);
    return Protos.toContenders(
        ask(name, stub -> stub.requestRelease(request.build())).getHoldersList());
  }

  /** Sets a lock's limit, zero for none, and returns the one before. */
  public OptionalInt configureLock(String name, int limit) {
    boolean inRange = limit >= 0 && limit <= Limits.MAX_PERMITS;
    Limits.require(inRange, "limit", "1 to 1,000,000, or zero", limit);
    ConfigureLockRequest request =
        ConfigureLockRequest.newBuilder().setName(name).setLimit(limit).build();
    int previous = ask(name, stub -> stub.configureLock(request)).getPreviousLimit();
    return previous == 0 ? OptionalInt.empty() : OptionalInt.of(previous);
  }

  /** Takes a lock away, with a token of zero from all holders; with a grace, asks them first. */
  public int forceRelease(String name, long token, String reason, Optional<Duration> grace) {
    ForceReleaseRequest.Builder request =
        ForceReleaseRequest.newBuilder()
            .setName(name)
            .setFencingToken(token)
            .setReason(Limits.reason(reason));
    grace.map(Protos::toProto).ifPresent(request::setGrace);
    ForceReleaseResponse answer =
        ask(
            LockNames.quoted(name),
            AdminServiceGrpc::newBlockingStub,
            stub -> stub.forceRelease(request.build()));
    return grace.isPresent() ? answer.getAsked() : answer.getReleased();
  }

  /** Lists locks, page by page as the stream is read. */
  public Stream<LockInfo> listLocks(String prefix) {
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
    return ask(
        "locks that begin with \"" + prefix + "\"",
        LockServiceGrpc::newBlockingStub,
        stub -> stub.listLocks(request));
  }

  private <T> T ask(String lock, Function<LockServiceGrpc.LockServiceBlockingStub, T> question) {
    return ask(LockNames.quoted(lock), LockServiceGrpc::newBlockingStub, question);
  }

  private <S extends AbstractStub<S>, T> T ask(
      String what, Function<Channel, S> service, Function<S, T> question) {
    if (loop.isCurrentThread()) {
      throw new IllegalStateException(
          "this call waits and must not be made in a callback on the client's own thread");
    }
    Attempts attempts = new Attempts(what);
    while (true) {
      long leftNanos = attempts.leftNanos();
      // A server that does not answer must leave time for the others.
      boolean isLast = attempts.failures >= channel.count();
      long tryNanos = isLast ? leftNanos : leftNanos / channel.count();
      ManagedChannel via = channel.open();
      try {
        return question.apply(
            service.apply(via).withDeadlineAfter(Math.max(1, tryNanos), TimeUnit.NANOSECONDS));
      } catch (StatusRuntimeException e) {
        attempts.pauseOrThrow(e, via);
      }
    }
  }

  /** What was tried for one call, and when to try again. In the calling thread. */
  private final class Attempts {
    private final String what;
    private final Backoff backoff = new Backoff(new SplittableRandom());
    private final long startedNanos = System.nanoTime();
    private int failures;

    Attempts(String what) {
      this.what = what;
    }

    long leftNanos() {
      return Loop.toNanos(settings.requestTimeout()) - (System.nanoTime() - startedNanos);
    }

    /** One attempt has failed: returns when the next one is due, or throws why there is none. */
    void pauseOrThrow(StatusRuntimeException e, ManagedChannel via) {
      if (Thread.currentThread().isInterrupted()) {
        throw new LockkeeperException(
            what + ": interrupted while waiting for a server's answer", e);
      }
      ErrorDetails details = ErrorDetails.of(e);
      if (!details.isPassing()) {
        throw details.toException(what);
      }
      failures++;
      long pauseNanos = backoff.nanosAfter(failures);
      long leftNanos = leftNanos();
      String failed = channel.moveOn(via, details.retryAfter().map(Loop::toNanos).orElse(0L));
      if (leftNanos - pauseNanos <= 0) {
        throw new ServerUnavailableException(
            settings.unavailable(what, failed + ": " + e.getStatus()), e);
      }
      // As long as the next server has asked for, while there is time enough for another one.
      LockSupport.parkNanos(Math.max(pauseNanos, Math.min(channel.aloneNanos(), leftNanos / 2)));
    }
  }

  /** Takes no more calls; those under way fail. */
  @Override
  public void close() {
    executor.shutdown();
    channel.close();
  }
}
