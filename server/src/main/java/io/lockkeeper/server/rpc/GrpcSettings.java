package io.lockkeeper.server.rpc;

import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.security.tls.TlsFiles;
import java.time.Duration;
import java.util.Optional;

/**
 * Where and how the gRPC endpoint listens.
 *
 * @param host the host name or address to bind
 * @param port the port, zero for any free one
 * @param tls how TLS is spoken; empty: plaintext
 * @param coordinatorId names the coordinator in what clients are told when it goes away
 * @param limits what one client may cost
 * @param maxConnectionAge after what time clients are asked to make a new connection; empty: never
 * @param traced whether acquisitions are traced here, and calls asked for their trace context
 */
public record GrpcSettings(
    String host,
    int port,
    Optional<Tls> tls,
    String coordinatorId,
    GrpcLimits limits,
    Optional<Duration> maxConnectionAge,
    boolean traced) {

  /**
   * How TLS is spoken.
   *
   * @param files the server's certificate, and the authorities that are believed
   * @param certificateRequired whether a caller without a certificate is not even listened to:
   *     nothing else can say who calls. Otherwise one that is shown must be trusted nevertheless
   */
  public record Tls(TlsFiles files, boolean certificateRequired) {}

  /** Checks the port. */
  public GrpcSettings {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("the port must be 0 to 65535: " + port);
    }
  }

  /** Returns settings with production's limits. */
  public static GrpcSettings of(String host, int port, Optional<Tls> tls, String coordinatorId) {
    return new GrpcSettings(
        host, port, tls, coordinatorId, GrpcLimits.DEFAULTS, Optional.empty(), false);
  }
}
