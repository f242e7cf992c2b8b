package io.lockkeeper.server.rpc;

import io.grpc.BindableService;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;
import io.lockkeeper.server.coordinator.Coordinator;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers grpc.health.v1: the services serve when the coordinator does. The admin service never
 * does: it offers nothing.
 */
final class HealthReporter {

  private static final Logger LOG = LoggerFactory.getLogger(HealthReporter.class);
  private static final List<String> SERVICES =
      List.of(
          HealthStatusManager.SERVICE_NAME_ALL_SERVICES,
          LockServiceGrpc.SERVICE_NAME,
          LeaseServiceGrpc.SERVICE_NAME);

  private final Coordinator coordinator;
  private final HealthStatusManager health = new HealthStatusManager();
  private final AtomicBoolean stopped = new AtomicBoolean();
  // Only the thread that calls update touches it.
  private ServingStatus told = ServingStatus.NOT_SERVING;

  HealthReporter(Coordinator coordinator) {
    this.coordinator = coordinator;
    health.setStatus(AdminServiceGrpc.SERVICE_NAME, ServingStatus.NOT_SERVING);
    SERVICES.forEach(service -> health.setStatus(service, told));
  }

  /** Returns the service to offer. */
  BindableService service() {
    return health.getHealthService();
  }

  /** Asks the coordinator, and tells those who watch if the answer has changed. Never throws. */
  void update() {
    if (stopped.get()) {
      return;
    }
    ServingStatus now = ask();
    if (now != told) {
      told = now;
      SERVICES.forEach(service -> health.setStatus(service, now));
      LOG.atInfo().addKeyValue("health", now).log("Health changed");
    }
  }

  private ServingStatus ask() {
    try {
      return coordinator.status().serving() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
    } catch (RuntimeException e) {
      LOG.atError().setCause(e).log("The coordinator cannot say how it is");
      return ServingStatus.NOT_SERVING;
    }
  }

  /** Tells NOT_SERVING for good. Idempotent. */
  void stop() {
    if (stopped.compareAndSet(false, true)) {
      health.enterTerminalState();
    }
  }
}
