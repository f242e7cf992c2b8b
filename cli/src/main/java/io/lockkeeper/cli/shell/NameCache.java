package io.lockkeeper.cli.shell;

import java.security.Security;

/** How long this process keeps the addresses of host names. */
public final class NameCache {

  private static final String TTL = "networkaddress.cache.ttl";
  private static final String NEGATIVE_TTL = "networkaddress.cache.negative.ttl";
  private static final String NEGATIVE_DEFAULT = "10";
  private static final String SECONDS = "1";

  private NameCache() {}

  /**
   * Limits the caches of the JVM and of gRPC to a second, unless the user has set them. By default
   * they keep an address for 30 s, and its absence for 10 s: longer than a lease lives when a
   * coordinator or a ZooKeeper server returns with another address. The JVM reads the limits at the
   * first lookup, so this must come earlier.
   */
  public static void shorten() {
    if (Security.getProperty(TTL) == null && System.getProperty("sun.net.inetaddr.ttl") == null) {
      Security.setProperty(TTL, SECONDS);
    }
    if (NEGATIVE_DEFAULT.equals(Security.getProperty(NEGATIVE_TTL))) {
      Security.setProperty(NEGATIVE_TTL, SECONDS);
    }
    // gRPC's own.
    if (System.getProperty(TTL) == null) {
      System.setProperty(TTL, SECONDS);
    }
  }
}
