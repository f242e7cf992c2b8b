package io.lockkeeper.integration.harness;

import com.google.protobuf.util.Durations;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Renews the lease of a session stream all the time, and knows when each renewal was sent. */
public final class KeepAlives implements AutoCloseable {

  /**
   * One renewal that was acknowledged.
   *
   * @param sentNanos when it was sent
   * @param answeredNanos when the answer came
   * @param validForNanos what the answer promised, from the sending
   */
  public record Acknowledged(long sentNanos, long answeredNanos, long validForNanos) {

    /** Returns until when the client may believe. */
    public long validUntilNanos() {
      return sentNanos + validForNanos;
    }
  }

  private final SessionStream session;
  private final Map<Long, Long> sent = new ConcurrentHashMap<>();
  private final AtomicLong nonce = new AtomicLong(1_000);
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

  private Future<?> renewals;

  private KeepAlives(SessionStream session) {
    this.session = session;
  }

  /** Starts to renew. */
  public static KeepAlives of(SessionStream session, Duration period) {
    KeepAlives keepAlives = new KeepAlives(session);
    keepAlives.renewals =
        keepAlives.timer.scheduleAtFixedRate(
            keepAlives::send, 0, period.toNanos(), TimeUnit.NANOSECONDS);
    return keepAlives;
  }

  private void send() {
    long number = nonce.incrementAndGet();
    sent.put(number, System.nanoTime());
    session.keepAlive(number);
  }

  /** Returns the renewals that were acknowledged so far. */
  public List<Acknowledged> acknowledged() {
    return session.responses().arrivals().stream()
        .filter(arrival -> arrival.value().hasKeptAlive())
        .filter(arrival -> sent.containsKey(arrival.value().getKeptAlive().getNonce()))
        .map(this::toAcknowledged)
        .toList();
  }

  private Acknowledged toAcknowledged(Timed.Arrival<SessionResponse> arrival) {
    return new Acknowledged(
        sent.get(arrival.value().getKeptAlive().getNonce()),
        arrival.nanos(),
        Durations.toNanos(arrival.value().getKeptAlive().getValidFor()));
  }

  @Override
  public void close() {
    renewals.cancel(false);
    timer.shutdownNow();
  }
}
