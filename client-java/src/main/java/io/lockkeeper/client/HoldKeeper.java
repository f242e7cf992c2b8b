package io.lockkeeper.client;

import io.lockkeeper.v1.SessionRequest;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries the calls of a hold to the loop, and waits for its release where that is safe. */
record HoldKeeper(Acquisition acquisition, Surroundings around) implements Hold.Keeper {

  private static final Logger LOG = LoggerFactory.getLogger(HoldKeeper.class);

  @Override
  public void release() {
    around.loop().execute(acquisition::release);
  }

  @Override
  public CompletableFuture<ReleaseResult> released() {
    return acquisition.left();
  }

  @Override
  public void awaitReleased() {
    if (around.loop().isCurrentThread()) {
      return; // A callback on the loop itself cannot wait for what the loop does next.
    }
    Duration limit = around.settings().requestTimeout();
    try {
      acquisition.left().get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (TimeoutException e) {
      LOG.atWarn()
          .addKeyValue("lock", acquisition.request().names())
          .log("The release is not certain after {}; it goes on in the background", limit);
    } catch (ExecutionException e) {
      throw new IllegalStateException("a release never fails", e);
    }
  }

  @Override
  public CompletableFuture<Void> updateMetadata(Map<String, String> metadata) {
    return ask(Requests.updateMetadata(acquisition.requestId(), metadata));
  }

  @Override
  public CompletableFuture<Void> answerRelease(Duration needs) {
    return ask(Requests.answerRelease(acquisition.requestId(), needs));
  }

  private CompletableFuture<Void> ask(SessionRequest request) {
    CompletableFuture<Void> answer = new CompletableFuture<>();
    if (!around.loop().executeIfRunning(() -> acquisition.tenure().ask(request, answer))) {
      answer.completeExceptionally(
          new LockLostException(acquisition.request().names(), LossReason.LEASE_CLOSED));
    }
    return answer;
  }

  @Override
  public <T, R> CompletableFuture<R> relay(CompletableFuture<T> inner, Function<T, R> toValue) {
    return around.callbacks().relay(inner, toValue);
  }
}
