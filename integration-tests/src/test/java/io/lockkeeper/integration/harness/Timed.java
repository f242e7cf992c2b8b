package io.lockkeeper.integration.harness;

import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Keeps what a stream of responses brings, each with the time of its arrival, and how the stream
 * ended.
 *
 * @param <Q> the requests
 * @param <T> the responses
 */
public final class Timed<Q, T> implements ClientResponseObserver<Q, T> {

  /**
   * One response.
   *
   * @param value the response
   * @param nanos when it came, by {@link System#nanoTime}
   * @param <T> the responses
   */
  public record Arrival<T>(T value, long nanos) {}

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final List<Arrival<T>> arrivals = new ArrayList<>();
  private Optional<Status> end = Optional.empty();
  private ClientCallStreamObserver<Q> call;

  @Override
  public synchronized void beforeStart(ClientCallStreamObserver<Q> started) {
    call = started;
  }

  @Override
  public synchronized void onNext(T value) {
    arrivals.add(new Arrival<>(value, System.nanoTime()));
    notifyAll();
  }

  @Override
  public synchronized void onError(Throwable failure) {
    end = Optional.of(Status.fromThrowable(failure));
    notifyAll();
  }

  @Override
  public synchronized void onCompleted() {
    end = Optional.of(Status.OK);
    notifyAll();
  }

  /** Hangs up. */
  public void cancel() {
    ClientCallStreamObserver<Q> started;
    synchronized (this) {
      started = call;
    }
    started.cancel("the test hangs up", null);
  }

  /** Returns what came so far. */
  public synchronized List<Arrival<T>> arrivals() {
    return List.copyOf(arrivals);
  }

  /** Returns how the stream ended, if it did. */
  public synchronized Optional<Status> end() {
    return end;
  }

  /** Returns the first response so far that is wanted. */
  public synchronized Optional<Arrival<T>> find(Predicate<T> wanted) {
    return arrivals.stream().filter(arrival -> wanted.test(arrival.value())).findFirst();
  }

  /** Waits for the first response that is wanted, for a bounded time, and returns it. */
  public synchronized Arrival<T> await(String what, Predicate<T> wanted) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      Optional<Arrival<T>> found = find(wanted);
      if (found.isPresent()) {
        return found.get();
      }
      if (end.isPresent() || !waitUntil(deadline)) {
        throw new AssertionError("no " + what + "; end " + end + "; came: " + arrivals);
      }
    }
  }

  /** Waits until the stream has ended, for a bounded time, and returns how. */
  public synchronized Status awaitEnd() {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (end.isEmpty()) {
      if (!waitUntil(deadline)) {
        throw new AssertionError("the stream goes on; came: " + arrivals);
      }
    }
    return end.get();
  }

  private synchronized boolean waitUntil(long deadlineNanos) {
    long left = deadlineNanos - System.nanoTime();
    if (left <= 0) {
      return false;
    }
    try {
      TimeUnit.NANOSECONDS.timedWait(this, left);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
