package io.lockkeeper.server.web;

import java.util.Optional;

/**
 * Where the HTTP endpoint listens, and what it shows of the process.
 *
 * @param host the host name or address to bind
 * @param port the port, zero for any free one
 * @param forThisMachine whether only this machine reaches the host: by its name and its range
 * @param advertised the name of this machine that others are told, if one is given
 * @param version the program's version, which the API's description names
 * @param sessionPathBytesCap how many bytes of paths one lock session may own, shown beside what
 *     they do own
 * @param locksForAll whether the web page and the API, which name locks, are served to everybody:
 *     only where gRPC does not ask who its clients are either, and no other machine reaches it
 *     unless that is asked for
 * @param pages where both are served to those who say who they are; empty: nowhere
 */
public record HttpSettings(
    String host,
    int port,
    boolean forThisMachine,
    Optional<String> advertised,
    String version,
    long sessionPathBytesCap,
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
