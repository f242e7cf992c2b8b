package io.lockkeeper.spring.autoconfigure;

import io.grpc.Status;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.RequestRefusedException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Up when a coordinator answers a question about a lock in time. A coordinator that answers that
 * the application may not know is up as well.
 *
 * <p>An application that is down because its coordinators are gets no requests, also those that
 * need no lock: whether it belongs into the readiness group is for the application to say. It is in
 * none by default.
 */
final class LockkeeperHealthIndicator extends AbstractHealthIndicator {

  private final LockkeeperClient client;
  private final LockkeeperProperties.Health settings;

  LockkeeperHealthIndicator(LockkeeperClient client, LockkeeperProperties.Health settings) {
    super("No coordinator of Lockkeeper answers");
    this.client = client;
    this.settings = settings;
  }

  @Override
  protected void doHealthCheck(Health.Builder health) {
    CompletableFuture<?> answer = client.async().getLock(settings.lock());
    try {
      answer.get(settings.timeout().toNanos(), TimeUnit.NANOSECONDS);
      health.up();
    } catch (TimeoutException e) {
      answer.cancel(true);
      health.down().withDetail("error", "no answer within " + settings.timeout());
    } catch (InterruptedException e) {
      answer.cancel(true);
      Thread.currentThread().interrupt(); // The base class would swallow it.
      health.down(e);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      if (cause instanceof RequestRefusedException refused
          && refused.code() == Status.Code.PERMISSION_DENIED) {
        health.up();
      } else {
        health.down(cause);
      }
    }
  }
}
