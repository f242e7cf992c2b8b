package io.lockkeeper.integration.failover;

import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.lockkeeper.integration.harness.ServerProcess;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A coordinator's place: an address and perhaps a data directory, which outlive the processes that
 * sit there one after the other.
 */
public final class Seat implements AutoCloseable {

  private final int port;
  private final String zookeeper;
  private final List<String> flags;
  private Optional<ServerProcess> process = Optional.empty();

  /** Nobody sits there yet. */
  Seat(int port, String zookeeper, List<String> flags) {
    this.port = port;
    this.zookeeper = zookeeper;
    this.flags = List.copyOf(flags);
  }

  /** Returns the place as {@code host:port}. */
  public String address() {
    return "127.0.0.1:" + port;
  }

  /** Returns its port. */
  public int port() {
    return port;
  }

  /** Starts a process there and waits for nothing. */
  void launch() {
    launch(Map.of());
  }

  /** Starts a process there in an environment, and waits for nothing. */
  void launch(Map<String, String> environment) {
    process.ifPresent(ServerProcess::close);
    process =
        Optional.of(
            ServerProcess.launch(environment, port, zookeeper, flags.toArray(String[]::new)));
  }

  /** Starts a process there and returns when it serves. */
  public void start() {
    launch();
    awaitServing();
  }

  /** Waits until the process there serves. */
  public void awaitServing() {
    process().awaitHealth(ServingStatus.SERVING);
  }

  /** Returns the process that sits there, or sat there last. */
  public ServerProcess process() {
    return process.orElseThrow(() -> new IllegalStateException("nobody was ever at " + address()));
  }

  /** Returns whether a process runs there. */
  public boolean isAlive() {
    return process.map(ServerProcess::isAlive).orElse(false);
  }

  /** Kills the process there with SIGKILL. */
  public void kill() {
    process().kill();
  }

  /** Asks the process there to stop and waits until it has; returns its exit code. */
  public int terminate() {
    process().terminate();
    return process().awaitExit();
  }

  @Override
  public void close() {
    process.ifPresent(ServerProcess::close);
  }
}
