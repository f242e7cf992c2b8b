package io.lockkeeper.examples.quarkus;

import io.smallrye.config.ConfigMapping;
import java.time.Duration;
import java.util.Optional;

/** Where the coordinators are and how the client holds locks: {@code lockkeeper.*}. */
@ConfigMapping(prefix = "lockkeeper")
public interface LockkeeperSettings {

  /** One or several {@code host:port}, separated by commas. */
  String servers();

  /** How long the lease lives without a keep-alive, 2 s to 1 hour; empty: the server's default. */
  Optional<Duration> ttl();

  /** Who holds the locks, human-readable, up to 256 bytes; empty: the server shows the address. */
  Optional<String> holder();
}
