package io.lockkeeper.server.app;

import io.grpc.Status.Code;
import io.lockkeeper.server.coordinator.api.CoordinatorSettings;
import io.lockkeeper.server.rpc.GrpcEndpoint;
import io.lockkeeper.server.rpc.call.Limit;
import io.lockkeeper.server.rpc.call.RpcStats;
import io.lockkeeper.server.rpc.call.ServerLimits;
import io.lockkeeper.server.rpc.wire.ServerVersion;
import io.lockkeeper.server.web.http.LimitGauge;
import io.lockkeeper.server.zookeeper.ZooKeeperLockStore;
import io.lockkeeper.server.zookeeper.client.StoreStats.StoreCount;
import io.lockkeeper.v1.ErrorReason;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/** Shows what the parts of a server count by themselves. */
final class ServerMetrics {

  private static final String REASON_PREFIX = "ERROR_REASON_";

  private static final Set<ErrorReason> NO_REASONS =
      EnumSet.of(ErrorReason.ERROR_REASON_UNSPECIFIED, ErrorReason.UNRECOGNIZED);

  private final MeterRegistry registry;

  ServerMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  /** Shows what program runs. */
  void build() {
    Gauge.builder("lockkeeper.build.info", () -> 1)
        .description("Always 1; its labels say what program runs")
        .tag("version", ServerVersion.text())
        .tag("java", Runtime.version().toString())
        .register(registry);
  }

  /** Shows what the store counts. */
  void of(ZooKeeperLockStore store) {
    for (StoreCount count : StoreCount.values()) {
      FunctionCounter.builder(
              "lockkeeper.zookeeper." + count.key().replace('_', '.'),
              store,
              s -> s.stats().getOrDefault(count.key(), 0L))
          .description(count.description())
          .register(registry);
    }
  }

  /** Shows what gRPC counts. */
  void of(GrpcEndpoint grpc) {
    counter(
        grpc,
        "forwarded.requests",
        "Requests that were forwarded to the coordinator that serves the lease",
        stats -> stats.forwarded.sum());
    counter(
        grpc,
        "peer.suspicions",
        "Times that a peer did not answer, or could renew no lease",
        stats -> stats.suspicions.sum());
    counter(
        grpc,
        "sessions.sent.away",
        "Session streams whose clients were asked to resume, here or elsewhere",
        stats -> stats.sentAway.sum());
    for (Code code : Code.values()) {
      FunctionCounter.builder("lockkeeper.calls.ended", grpc, e -> e.stats().ended(code))
          .description("Calls that have ended, by their status")
          .tag("code", code.name())
          .register(registry);
    }
    for (ErrorReason reason : EnumSet.complementOf(EnumSet.copyOf(NO_REASONS))) {
      FunctionCounter.builder("lockkeeper.requests.refused", grpc, e -> e.stats().refusals(reason))
          .description("Requests that were refused, by the reason that their clients were told")
          .tag("reason", key(reason))
          .register(registry);
    }
    for (Limit limit : Limit.values()) {
      FunctionCounter.builder("lockkeeper.refused", grpc, endpoint -> endpoint.refused(limit))
          .description("What was refused at a limit of the server")
          .tag("limit", limit.key())
          .register(registry);
    }
    Gauge.builder("lockkeeper.connections", grpc, GrpcEndpoint::connections)
        .description("Open connections of gRPC")
        .register(registry);
    Gauge.builder("lockkeeper.calls", grpc, GrpcEndpoint::calls)
        .description("Open calls")
        .register(registry);
  }

  private void counter(
      GrpcEndpoint grpc, String name, String description, ToDoubleFunction<RpcStats> value) {
    FunctionCounter.builder(
            "lockkeeper." + name, grpc, endpoint -> value.applyAsDouble(endpoint.stats()))
        .description(description)
        .register(registry);
  }

  private static String key(ErrorReason reason) {
    return reason.name().substring(REASON_PREFIX.length()).toLowerCase(Locale.ROOT);
  }

  /** Shows the limits of the coordinator. */
  void of(CoordinatorSettings settings) {
    LimitGauge.show(registry, "waiters", settings.core().maxWaiters());
    LimitGauge.show(registry, "leases", settings.core().maxLeases());
    LimitGauge.show(registry, "sessions", settings.core().maxSessions());
    LimitGauge.show(registry, "entry-bytes", settings.core().maxEntryBytes());
    LimitGauge.show(registry, "mirror-entries", settings.core().maxMirrorEntries());
    LimitGauge.show(registry, "watches", settings.maxWatches());
    LimitGauge.show(registry, "queued-requests", settings.maxQueuedRequests());
  }

  /** Shows the limits of gRPC. */
  void of(ServerLimits limits) {
    LimitGauge.show(registry, Limit.CONNECTIONS.key(), limits.connections());
    LimitGauge.show(registry, Limit.ADDRESS_CONNECTIONS.key(), limits.addressConnections());
    LimitGauge.show(registry, Limit.CALLS.key(), limits.calls());
    LimitGauge.show(registry, Limit.ADDRESS_CALLS.key(), limits.addressCalls());
    LimitGauge.show(registry, Limit.PARTIAL_REQUESTS.key(), limits.partialBytes());
    LimitGauge.show(registry, Limit.UNREAD_BYTES.key(), limits.unreadBytes());
  }
}
