package io.lockkeeper.client;

import io.grpc.ManagedChannel;
import io.lockkeeper.client.internal.Endpoint;
import io.lockkeeper.client.internal.Helpers;
import io.lockkeeper.client.internal.Target;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * How a client was built.
 *
 * @param servers the addresses, in the order to try them
 * @param names who looks up which servers a name stands for; empty: each is one server
 * @param channels opens a connection to a server
 * @param ttl the lease's time to live; empty: the server's default
 * @param holder who the client is, for people; empty: the server uses the peer's address
 * @param requestTimeout how long a server may take to be reached and to answer
 * @param expiryWarning how long before the deadline to warn; empty: a fifth of the time to live
 * @param callbacks where callbacks run; empty: on a thread of the client's own
 * @param helpers which threads do the client's work
 * @param clock monotonic nanoseconds; empty: the system's
 */
record Settings(
    List<Target> servers,
    Optional<Target.Names> names,
    Function<Endpoint, ManagedChannel> channels,
    Optional<Duration> ttl,
    String holder,
    Duration requestTimeout,
    Optional<Duration> expiryWarning,
    Optional<Executor> callbacks,
    Helpers helpers,
    Optional<LongSupplier> clock) {}
