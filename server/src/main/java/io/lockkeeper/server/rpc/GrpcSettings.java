package io.lockkeeper.server.rpc;

import io.lockkeeper.server.rpc.call.GrpcLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Where and how the gRPC endpoint listens.
 *
 * @param host the host name or address to bind
 * @param port the port, zero for any free one
 * @param tls the files for TLS, or empty for plaintext
 * @param coordinatorId names the coordinator in what clients are told when it goes away
 * @param limits what one client may cost
 * @param maxConnectionAge after what time clients are asked to make a new connection; empty: never
 */
public record GrpcSettings(
    String host,
    int port,
    Optional<Tls> tls,
    String coordinatorId,
    GrpcLimits limits,
    Optional<Duration> maxConnectionAge) {

  /**
   * The files for TLS, in PEM.
   *
   * @param certificateChain the server's certificate, then those that signed it
   * @param privateKey the server's key, PKCS#8 without a passphrase
   * @param clientCa if given, clients must show a certificate that one of these has signed
   * @param peerCa if given, other coordinators must show a certificate that one of these has
   *     signed; otherwise one that the authorities for clients have signed, or those that this
   *     server's own chain or Java trusts
   */
  public record Tls(
      Path certificateChain, Path privateKey, Optional<Path> clientCa, Optional<Path> peerCa) {

    /** Makes files without authorities for peers. */
    public Tls(Path certificateChain, Path privateKey, Optional<Path> clientCa) {
      this(certificateChain, privateKey, clientCa, Optional.empty());
    }
  }

  /** Checks the port. */
  public GrpcSettings {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("the port must be 0 to 65535: " + port);
    }
  }

  /** Returns settings with production's limits. */
  public static GrpcSettings of(String host, int port, Optional<Tls> tls, String coordinatorId) {
    return new GrpcSettings(host, port, tls, coordinatorId, GrpcLimits.DEFAULTS, Optional.empty());
  }
}
