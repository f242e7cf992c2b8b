package io.lockkeeper.server.rpc.call;

import io.grpc.BindableService;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.CoordinatorStatus;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Answers grpc.health.v1: the services serve when the coordinator does, and the lease service also
 * while only the mirror is being rebuilt. The admin service does unless the coordinator has failed:
 * an operator may need it most when nothing else works.
 */
public final class HealthReporter {

  private static final Logger LOG = LoggerFactory.getLogger(HealthReporter.class);

  /** The service whose health says whether leases are renewed: what peers want to know. */
  public static final String LEASES = LeaseServiceGrpc.SERVICE_NAME;

  private static final List<String> SERVICES =
      List.of(HealthStatusManager.SERVICE_NAME_ALL_SERVICES, LockServiceGrpc.SERVICE_NAME);

  private final Coordinator coordinator;
  private final Supplier<Optional<String>> impediment;
  private final HealthStatusManager health = new HealthStatusManager();
  private final AtomicBoolean stopped = new AtomicBoolean();
  private volatile boolean drained;
  private ServingStatus told = ServingStatus.NOT_SERVING;

  /**
   * Prepares.
   *
   * @param impediment says why requests do not reach the coordinator, if they do not
   */
  public HealthReporter(Coordinator coordinator, Supplier<Optional<String>> impediment) {
    this.coordinator = coordinator;
    this.impediment = impediment;
    health.setStatus(AdminServiceGrpc.SERVICE_NAME, ServingStatus.SERVING);
    health.setStatus(LEASES, told);
    SERVICES.forEach(service -> health.setStatus(service, told));
  }

  /** Returns the service to offer. */
  public BindableService service() {
    return health.getHealthService();
  }

  /** Asks the coordinator, and tells those who watch if the answer has changed. Never throws. */
  public void update() {
    if (stopped.get()) {
      return;
    }
    List<String> reasons = new ArrayList<>();
    Optional<CoordinatorStatus> status = status(reasons);
    status.ifPresent(known -> reasons.addAll(known.impediments()));
    health.setStatus(
        AdminServiceGrpc.SERVICE_NAME, servingIf(status.filter(known -> !known.failed())));
    health.setStatus(LEASES, servingIf(status.filter(known -> !drained && known.sessionUsable())));
    if (status.filter(known -> !drained && known.serving()).isPresent()) {
      tell(ServingStatus.SERVING, Level.INFO, "locks can be granted");
    } else {
      tell(ServingStatus.NOT_SERVING, Level.WARN, String.join("; ", reasons));
    }
  }

  /** Returns how the coordinator is, or nothing, and why, if it cannot say or be reached. */
  private Optional<CoordinatorStatus> status(List<String> reasons) {
    try {
      Optional<String> obstacle = impediment.get();
      obstacle.ifPresent(reasons::add);
      return obstacle.isPresent() ? Optional.empty() : Optional.of(coordinator.status());
    } catch (RuntimeException e) {
      LOG.atError().setCause(e).log("The coordinator cannot say how it is");
      reasons.add("the coordinator cannot say how it is");
      return Optional.empty();
    }
  }

  private synchronized void tell(ServingStatus now, Level level, String why) {
    if (now != told) {
      told = now;
      SERVICES.forEach(service -> health.setStatus(service, now));
      LOG.atLevel(level)
          .addKeyValue("health", now)
          .addKeyValue("reason", why)
          .log("Health changed");
    }
  }

  private static ServingStatus servingIf(Optional<CoordinatorStatus> able) {
    return able.isPresent() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  }

  /**
   * Tells NOT_SERVING of locks and leases for good. Idempotent.
   *
   * @param why for the log
   */
  public void drain(String why) {
    drained = true;
    health.setStatus(LEASES, ServingStatus.NOT_SERVING);
    tell(ServingStatus.NOT_SERVING, Level.INFO, why);
  }

  /** Tells NOT_SERVING for good. Idempotent. */
  public void stop() {
    if (stopped.compareAndSet(false, true)) {
      tell(ServingStatus.NOT_SERVING, Level.INFO, "the coordinator stops");
      health.enterTerminalState();
    }
  }
}
