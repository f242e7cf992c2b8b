package io.lockkeeper.examples.quarkus;

import io.lockkeeper.client.LockkeeperClient;
import io.smallrye.health.api.AsyncHealthCheck;
import io.smallrye.mutiny.Uni;
import jakarta.inject.Singleton;
import java.time.Duration;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/** Says whether a coordinator answers within a second. It asks about a lock that nobody needs. */
@Readiness
@Singleton
public final class CoordinatorReady implements AsyncHealthCheck {

  private static final String NAME = "lockkeeper";

  private final LockkeeperClient client;

  /** Makes one that asks the coordinators of {@code client}. */
  public CoordinatorReady(LockkeeperClient client) {
    this.client = client;
  }

  @Override
  public Uni<HealthCheckResponse> call() {
    return Uni.createFrom()
        .completionStage(() -> client.async().getLock("stock/health"))
        .map(lock -> HealthCheckResponse.up(NAME))
        .ifNoItem()
        .after(Duration.ofSeconds(1))
        .fail()
        .onFailure()
        .recoverWithItem(() -> HealthCheckResponse.down(NAME));
  }
}
