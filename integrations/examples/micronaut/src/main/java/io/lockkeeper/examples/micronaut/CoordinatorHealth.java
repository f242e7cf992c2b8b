package io.lockkeeper.examples.micronaut;

import io.lockkeeper.client.LockkeeperClient;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import io.micronaut.management.health.indicator.annotation.Readiness;
import jakarta.inject.Singleton;
import java.util.concurrent.TimeUnit;
import org.reactivestreams.Publisher;

/** Says whether a coordinator answers within a second. It asks about a lock that nobody needs. */
@Readiness
@Singleton
public final class CoordinatorHealth implements HealthIndicator {

  private final LockkeeperClient client;

  /** Makes one that asks the coordinators of {@code client}. */
  public CoordinatorHealth(LockkeeperClient client) {
    this.client = client;
  }

  @Override
  public Publisher<HealthResult> getResult() {
    return Publishers.fromCompletableFuture(
        () ->
            client
                .async()
                .getLock("stock/health")
                .orTimeout(1, TimeUnit.SECONDS)
                .handle((lock, failure) -> failure == null ? HealthStatus.UP : HealthStatus.DOWN)
                .thenApply(status -> HealthResult.builder("lockkeeper", status).build()));
  }
}
