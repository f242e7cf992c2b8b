package io.lockkeeper.client.internal.runtime;

import io.lockkeeper.client.Watch;
import io.lockkeeper.client.WatchListener;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.context.Settings;
import io.lockkeeper.client.internal.kept.KeptLocks;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.session.Session;
import io.lockkeeper.v1.WatchRequest;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of one running client: how they are wired, and how they end: the lease, the watches,
 * the threads, in this order and in a bounded time.
 */
public final class ClientRuntime implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ClientRuntime.class);
  private static final Duration END_LIMIT = Duration.ofSeconds(5);

  private final ClientContext context;
  private final Loop loop;
  private final Session session;
  private final AcquireCalls acquireCalls;
  private final UnaryCalls unaryCalls;
  private volatile boolean closed;
  private final Set<WatchStream> watches = new HashSet<>(); // Only the loop touches it.

  /** Starts the threads. Connects when first used. */
  public ClientRuntime(Settings settings) {
    this.context = ClientContext.start(settings);
    this.loop = context.loop();
    this.session = new Session(context);
    this.acquireCalls = new AcquireCalls(context, session, new KeptLocks(context, session));
    this.unaryCalls = new UnaryCalls(context);
  }

  /** Returns the calls that acquire locks. */
  public AcquireCalls acquireCalls() {
    return acquireCalls;
  }

  /** Returns the calls that ask about locks, or act on others' locks. */
  public UnaryCalls unaryCalls() {
    return unaryCalls;
  }

  /** Returns the public short name of the lease; empty: there is none now. */
  public String leaseTag() {
    return session.leaseTag();
  }

  /** Watches the names or the prefix of {@code request}. */
  public Watch watch(WatchRequest request, WatchListener listener) {
    return WatchStream.start(request, listener, context, watches);
  }

  /** Returns whether {@link #close} was called. */
  public boolean isClosed() {
    return closed;
  }

  /** Ends everything. Idempotent. An interrupt cuts the wait short and is kept. */
  @Override
  public void close() {
    closed = true;
    CompletableFuture<Void> ended = new CompletableFuture<>();
    if (!loop.executeIfRunning(() -> session.close(() -> ended.complete(null)))) {
      ended.complete(null);
    }
    boolean interrupted = false;
    try {
      awaitBriefly(ended);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    interrupted |= stopThreads();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void awaitBriefly(CompletableFuture<Void> ended) throws InterruptedException {
    if (loop.isCurrentThread()) {
      return;
    }
    try {
      ended.get(END_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      LOG.atWarn().log("No server confirmed the end of the lease: it ends by its time to live");
    } catch (ExecutionException e) {
      throw new IllegalStateException("the end of a session never fails", e);
    }
  }

  /** Returns whether an interrupt cut the wait for the threads short. */
  private boolean stopThreads() {
    loop.execute(this::endLoop);
    boolean interrupted = false;
    try {
      loop.awaitEnd(END_LIMIT);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    // After the loop: a watch is told of its end before a call that was made for it fails.
    unaryCalls.close();
    context.discovery().close();
    if (interrupted) {
      return true;
    }
    try {
      context.callbacks().stop(END_LIMIT);
      return false;
    } catch (InterruptedException e) {
      return true;
    }
  }

  /** Completes what was submitted to the loop before, so that no caller waits for ever. */
  private void endLoop() {
    loop.drain();
    session.abandon();
    List.copyOf(watches).forEach(WatchStream::onClientClosed);
    loop.stop();
  }
}
