package io.lockkeeper.client;

import io.lockkeeper.client.internal.Loop;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a client ends: its lease, its watches, its threads, in this order and in a bounded time.
 *
 * @param around what its parts share
 * @param session the lease
 * @param queries the calls apart from the lease
 * @param async those that wait on threads of their own
 * @param watches the loop's
 */
record Shutdown(
    Surroundings around,
    Session session,
    Queries queries,
    LockkeeperAsync async,
    Set<WatchStream> watches) {

  private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);
  private static final Duration LIMIT = Duration.ofSeconds(5);

  /** Ends everything. Idempotent. An interrupt cuts the wait short and is kept. */
  void run() {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    if (!loop().executeIfRunning(() -> session.close(() -> ended.complete(null)))) {
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
    if (loop().isCurrentThread()) {
      return;
    }
    try {
      ended.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      LOG.atWarn().log("No server confirmed the end of the lease: it ends by its time to live");
    } catch (ExecutionException e) {
      throw new IllegalStateException("the end of a session never fails", e);
    }
  }

  private boolean stopThreads() {
    loop().execute(this::endLoop);
    async.close();
    queries.close();
    around.discovery().close();
    try {
      loop().awaitEnd(LIMIT);
      around.callbacks().stop(LIMIT);
      return false;
    } catch (InterruptedException e) {
      return true;
    }
  }

  private Loop loop() {
    return around.loop();
  }

  /** What was given to the loop before is done, so that nobody waits for it in vain. */
  private void endLoop() {
    loop().drain();
    session.abandon();
    List.copyOf(watches).forEach(WatchStream::abandon);
    loop().stop();
  }
}
