package io.lockkeeper.server.web;

/**
 * Where the HTTP endpoint listens, and what it shows of the process.
 *
 * @param host the host name or address to bind
 * @param port the port, zero for any free one
 * @param coordinatorId names the coordinator on the status page
 * @param version the program's version, for the status page
 * @param sessionPathBytesCap how many bytes of paths one lock session may own, shown beside what
 *     they do own
 * @param insecure whether others than this machine are served over gRPC without protection
 */
public record HttpSettings(
    String host,
    int port,
    String coordinatorId,
    String version,
    long sessionPathBytesCap,
    boolean insecure) {

  /** Checks the port. */
  public HttpSettings {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("the port must be 0 to 65535: " + port);
    }
  }
}
