package io.lockkeeper.server.web;

import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.CoordinatorStatus;
import io.lockkeeper.server.core.api.LockView;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import tools.jackson.databind.json.JsonMapper;

/** Which page there is under which path. */
final class Pages {

  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final int UNAVAILABLE = 503;
  private static final String METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private static final long LOCKS_LIMIT_MILLIS = 1_000;

  private final Coordinator coordinator;
  private final PrometheusMeterRegistry registry;
  private final CoordinatorMetrics metrics;
  private final StatusPage statusPage;

  // Fewer than there are threads, so that health is always told at once.
  private final Semaphore waiting = new Semaphore(2);
  private final JsonMapper json = JsonMapper.builder().build();

  Pages(HttpSettings settings, Coordinator coordinator, PrometheusMeterRegistry registry) {
    this.coordinator = coordinator;
    this.registry = registry;
    this.metrics = new CoordinatorMetrics(coordinator, settings.sessionPathBytesCap(), registry);
    this.statusPage = new StatusPage(settings);
  }

  /** Returns the page under {@code path}. */
  Page at(String path) {
    return switch (path) {
      case "/" -> status();
      case "/metrics" -> metrics();
      case "/healthz" -> Page.text(OK, "alive\n");
      case "/readyz" -> ready();
      default -> Page.text(NOT_FOUND, "not found: see /, /metrics, /healthz, /readyz\n");
    };
  }

  private Page status() {
    CoordinatorStatus status = coordinator.status();
    return new Page(OK, "text/html; charset=utf-8", statusPage.render(status, locks(status)));
  }

  /**
   * Returns some locks and, as a sign that there are more, one too many; empty if not told soon.
   */
  private Optional<List<LockView>> locks(CoordinatorStatus status) {
    if (!status.mirrorCurrent() || !waiting.tryAcquire()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          coordinator
              .listLocks("", Optional.empty(), StatusPage.MAX_LOCKS + 1, lock -> true)
              .thenApply(Coordinator.LockPage::locks)
              .get(LOCKS_LIMIT_MILLIS, TimeUnit.MILLISECONDS));
    } catch (ExecutionException | TimeoutException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } finally {
      waiting.release();
    }
  }

  private Page metrics() {
    metrics.refresh();
    return new Page(OK, METRICS_TYPE, registry.scrape(METRICS_TYPE));
  }

  private Page ready() {
    Readiness readiness = Readiness.of(coordinator.status());
    return new Page(
        readiness.serving() ? OK : UNAVAILABLE,
        "application/json",
        json.writeValueAsString(readiness) + "\n");
  }
}
