package io.lockkeeper.server.web;

import java.util.Optional;

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
 * @param locksForAll whether the status page, which names locks, is served to everybody: only where
 *     gRPC does not ask who its clients are either, and no other machine reaches it unless that is
 *     asked for
 * @param pages where the status page is served to those who may see it; empty: nowhere
 */
public record HttpSettings(
    String host,
    int port,
    String coordinatorId,
    String version,
    long sessionPathBytesCap,
    boolean insecure,
    boolean locksForAll,
    Optional<PagesSettings> pages) {

  /** Checks the port. */
  public HttpSettings {
    checkPort(port);
  }

  static void checkPort(int port) {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("the port must be 0 to 65535: " + port);
    }
  }
}
