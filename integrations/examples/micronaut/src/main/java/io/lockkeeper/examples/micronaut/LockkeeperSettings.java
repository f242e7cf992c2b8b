package io.lockkeeper.examples.micronaut;

import io.micronaut.context.annotation.ConfigurationProperties;
import java.time.Duration;
import java.util.Optional;

/**
 * Where the coordinators are and how the client holds locks: {@code lockkeeper.*}.
 *
 * @param servers one or several {@code host:port}, separated by commas
 * @param ttl how long the lease lives without a keep-alive, 2 s to 1 hour; empty: the server's
 *     default
 * @param holder who holds the locks, human-readable, up to 256 bytes; empty: the server shows the
 *     address
 */
@ConfigurationProperties("lockkeeper")
public record LockkeeperSettings(String servers, Optional<Duration> ttl, Optional<String> holder) {}
