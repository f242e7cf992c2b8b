package io.lockkeeper.cli.run;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.PreviousEnd;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A held lock that is as valid as it is told to be. */
final class FakeHandle implements LockHandle {

  volatile boolean valid = true;
  private final CompletableFuture<LossReason> lost = new CompletableFuture<>();

  @Override
  public String name() {
    return "orders/42";
  }

  @Override
  public long fencingToken() {
    return 42;
  }

  @Override
  public PreviousEnd previousEnd() {
    return PreviousEnd.UNKNOWN;
  }

  @Override
  public boolean isValid() {
    return valid;
  }

  @Override
  public Duration remaining() {
    return valid ? Duration.ofSeconds(10) : Duration.ZERO;
  }

  @Override
  public long validUntilNanos() {
    return 0;
  }

  @Override
  public void checkValid() {}

  @Override
  public CompletionStage<LossReason> lost() {
    return lost;
  }

  @Override
  public CompletableFuture<Void> releaseAsync() {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public void close() {}
}
