package io.lockkeeper.client.internal.transport;

import io.grpc.ManagedChannel;
import io.lockkeeper.client.internal.loop.Loop;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/** The servers, one of them the current: the one to try next, or in use. Not thread-safe. */
public final class ServerList {

  /** A lookup that takes longer is not awaited: the servers known before are used. */
  private static final Duration LOOKUP_LIMIT = Duration.ofSeconds(1);

  private final Discovery discovery;
  private final Function<Endpoint, ManagedChannel> channels;
  private List<Endpoint> endpoints;
  private final Map<Endpoint, Long> aloneUntil = new HashMap<>();
  private int current;

  public ServerList(Function<Endpoint, ManagedChannel> channels, Discovery discovery) {
    this.discovery = discovery;
    this.channels = channels;
    this.endpoints = discovery.asWritten();
  }

  /** Returns the current server, human-readable. */
  public String current() {
    return endpoints.get(current).toString();
  }

  public int count() {
    return endpoints.size();
  }

  /** Opens a connection to the current server. */
  public ManagedChannel connect() {
    return channels.apply(endpoints.get(current));
  }

  /** The current server is to be left alone for {@code nanos}, as it has asked for. */
  public void leaveAlone(long nowNanos, long nanos) {
    if (nanos > 0) {
      aloneUntil.put(endpoints.get(current), nowNanos + nanos);
    }
  }

  /** Returns for how long the current server is to be left alone yet; zero: it may be asked. */
  public long aloneNanos(long nowNanos) {
    long leftNanos = aloneUntil.getOrDefault(endpoints.get(current), nowNanos) - nowNanos;
    if (leftNanos <= 0) {
      aloneUntil.remove(endpoints.get(current));
    }
    return Math.max(0, leftNanos);
  }

  /** Moves on to the next server, after the last to the first. */
  private void moveOn() {
    current = (current + 1) % endpoints.size();
  }

  /** Moves on to the next server that may be asked first: one that is left alone is passed over. */
  public void moveOn(long nowNanos) {
    moveOn();
    int soonest = current;
    long waitNanos = aloneNanos(nowNanos);
    for (int i = 1; i < endpoints.size() && waitNanos > 0; i++) {
      moveOn();
      if (aloneNanos(nowNanos) < waitNanos) {
        soonest = current;
        waitNanos = aloneNanos(nowNanos);
      }
    }
    current = soonest;
  }

  /** Looks up the servers again and then runs {@code then}, on the loop and in a bounded time. */
  public void refresh(Loop loop, Runnable then) {
    CompletableFuture<List<Endpoint>> found = discovery.resolve();
    if (found.isDone()) {
      take(found.join());
      then.run();
      return;
    }
    AtomicBoolean goneOn = new AtomicBoolean();
    Runnable goOn =
        () -> {
          if (goneOn.compareAndSet(false, true)) {
            then.run();
          }
        };
    Loop.Timer limit = loop.schedule(LOOKUP_LIMIT.toNanos(), goOn);
    CompletableFuture<Void> unused =
        found.thenAccept(
            fresh ->
                loop.execute(
                    () -> {
                      limit.cancel();
                      take(fresh);
                      goOn.run();
                    }));
  }

  /** Looks up the servers again, in a bounded time, in the calling thread. */
  public void refresh() throws InterruptedException {
    try {
      take(discovery.resolve().get(LOOKUP_LIMIT.toNanos(), TimeUnit.NANOSECONDS));
    } catch (TimeoutException e) {
      return; // The servers known before are used.
    } catch (ExecutionException e) {
      throw new IllegalStateException("a lookup never fails", e);
    }
  }

  /** The current server stays current if it is among the new ones; else its index is kept. */
  private void take(List<Endpoint> fresh) {
    int same = fresh.indexOf(endpoints.get(current));
    current = same >= 0 ? same : current % fresh.size();
    endpoints = fresh;
    aloneUntil.keySet().retainAll(fresh);
  }
}
