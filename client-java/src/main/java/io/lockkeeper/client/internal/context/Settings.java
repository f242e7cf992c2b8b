package io.lockkeeper.client.internal.context;

import io.grpc.ManagedChannel;
import io.lockkeeper.client.internal.loop.CallerRuns;
import io.lockkeeper.client.internal.telemetry.Telemetry;
import io.lockkeeper.client.internal.transport.Endpoint;
import io.lockkeeper.client.internal.transport.Target;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * How a client was built.
 *
 * @param servers the addresses, in the order to try them
 * @param resolver looks up which servers a name stands for; empty: each is one server
 * @param channels opens a connection to a server
 * @param ttl the lease's time to live; empty: the server's default
 * @param holder who the client is, human-readable; empty: the server uses the peer's address
 * @param requestTimeout how long a server may take to be reached and to answer
 * @param expiryWarning how long before the deadline to warn; empty: a fifth of the time to live
 * @param callbacks where callbacks run; empty: on a thread of the client's own
 * @param callerRuns which threads besides its own run what the client's loop is given
 * @param telemetry is told what becomes of requests
 * @param clock monotonic nanoseconds; empty: the system's
 * @param failFast whether requests fail as soon as each server was tried once, before a first one
 *     has served
 */
public record Settings(
    List<Target> servers,
    Optional<Target.Resolver> resolver,
    Function<Endpoint, ManagedChannel> channels,
    Optional<Duration> ttl,
    String holder,
    Duration requestTimeout,
    Optional<Duration> expiryWarning,
    Optional<Executor> callbacks,
    CallerRuns callerRuns,
    Telemetry telemetry,
    Optional<LongSupplier> clock,
    boolean failFast) {

  /**
   * Returns the message of what fails because no server has answered in time.
   *
   * @param request what was asked, human-readable: names the lock
   */
  public String unavailable(String request, String lastFailure) {
    return request
        + ": no server answered within "
        + requestTimeout
        + ": check that one of "
        + servers.stream().map(Object::toString).collect(Collectors.joining(", "))
        + " runs and can reach ZooKeeper; last: "
        + lastFailure;
  }
}
