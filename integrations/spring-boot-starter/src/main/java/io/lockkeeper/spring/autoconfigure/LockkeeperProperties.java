package io.lockkeeper.spring.autoconfigure;

import io.lockkeeper.client.LockSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How the application's client reaches the coordinators. What is not set is left to the client: see
 * {@link io.lockkeeper.client.LockkeeperClientBuilder}.
 *
 * @param servers the coordinators, each {@code host:port}; the port may be left out and is 7420
 *     then
 * @param holder who the application is, human-readable, up to 256 bytes: what those who wait are
 *     told. Default: {@code spring.application.name}, else the server shows an address
 * @param ttl how long the lease lives without a keep-alive, 2 s to 1 hour: how long the locks of an
 *     instance that died stay taken. Default: the server's, 15 s
 * @param requestTimeout how long a server may take to be reached and to answer, above zero.
 *     Default: 15 s
 * @param expiryWarning how long before the deadline the client warns. Default: a fifth of the TTL
 * @param token sent with every call: who the application is. Over TLS, or to this machine
 * @param tokenFile a file that has the token, read anew for each call, so that it may be renewed
 * @param ssl the connection's encryption
 * @param health the health indicator
 * @param integration the lock registry of Spring Integration
 */
@ConfigurationProperties("lockkeeper")
public record LockkeeperProperties(
    @DefaultValue("localhost:7420") List<String> servers,
    @Nullable String holder,
    @Nullable Duration ttl,
    @Nullable Duration requestTimeout,
    @Nullable Duration expiryWarning,
    @Nullable String token,
    @Nullable Path tokenFile,
    @DefaultValue Ssl ssl,
    @DefaultValue Health health,
    @DefaultValue Integration integration) {

  /** Checks what does not go together. */
  public LockkeeperProperties {
    if (token != null && tokenFile != null) {
      throw new IllegalArgumentException(
          "lockkeeper.token and lockkeeper.token-file do not go together: set one of them");
    }
    if (servers.isEmpty()) {
      throw new IllegalArgumentException("lockkeeper.servers names no server");
    }
  }

  /** Without the token. */
  @Override
  public String toString() {
    return "LockkeeperProperties[servers=" + servers + ", holder=" + holder + "]";
  }

  /**
   * The lock registry of Spring Integration.
   *
   * @param prefix what its locks are named before their keys. Applications whose keys may be the
   *     same say different ones
   */
  public record Integration(@DefaultValue("spring-integration/") String prefix) {}

  /**
   * The connection's encryption.
   *
   * @param enabled whether to use TLS. Default: if there is a bundle
   * @param bundle the name of an SSL bundle, {@code spring.ssl.bundle.*}: the authorities to trust
   *     and, for mutual TLS, the certificate to show, with its protocol and options; read anew for
   *     each connection. Without one, the authorities that the JVM trusts
   */
  public record Ssl(@Nullable Boolean enabled, @Nullable String bundle) {

    /** Returns whether to use TLS. */
    public boolean isEnabled() {
      return enabled == null ? bundle != null : enabled;
    }
  }

  /**
   * The health indicator.
   *
   * @param lock the lock that it asks about, and never takes
   * @param timeout how long the answer may take, above zero, 1 minute at most
   */
  public record Health(
      @DefaultValue("lockkeeper-health") String lock, @DefaultValue("2s") Duration timeout) {

    /** Checks the ranges. */
    public Health {
      try {
        LockSpec unused = LockSpec.exclusive(lock);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("lockkeeper.health.lock: " + e.getMessage(), e);
      }
      if (timeout.isNegative()
          || timeout.isZero()
          || timeout.compareTo(Duration.ofMinutes(1)) > 0) {
        throw new IllegalArgumentException(
            "lockkeeper.health.timeout is above zero, and 1 minute at most, not " + timeout);
      }
    }
  }
}
