package io.lockkeeper.client.internal.transport;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.Security;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The system's resolver, whose answers are at most a second old. The JVM would keep an address for
 * 30 s, and the absence of one for 10 s: longer than a lease lives whose only coordinator returns
 * with another address.
 *
 * <p>The JVM's cache has no settings for a library alone, and reads those of the process only at
 * its first lookup. But its key is the exact spelling of a name, and DNS ignores case (RFC 4343):
 * each lookup here spells the name in another mixture of upper and lower case. Where the
 * application has set how long the JVM keeps addresses, that counts. For any thread.
 */
final class FreshNames {

  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final AtomicInteger LOOKUPS = new AtomicInteger();

  /** As static as the JVM's cache, which has the addresses for these spellings. */
  private static final Map<String, Spelling> NEWEST = new ConcurrentHashMap<>();

  private record Spelling(String text, long atNanos) {}

  private FreshNames() {}

  /**
   * Returns all addresses of a host.
   *
   * @throws UnknownHostException if there are none, or they cannot be looked up
   */
  static List<InetAddress> lookUp(String host) throws UnknownHostException {
    Spelling newest = NEWEST.get(host);
    if (isCacheSet() || (newest != null && System.nanoTime() - newest.atNanos < FRESH_NANOS)) {
      return List.of(InetAddress.getAllByName(spelled(host)));
    }
    String text = respelled(host, LOOKUPS.incrementAndGet());
    try {
      List<InetAddress> found = List.of(InetAddress.getAllByName(text));
      NEWEST.put(host, new Spelling(text, System.nanoTime()));
      return found;
    } catch (UnknownHostException e) {
      // A resolver that does not ignore case knows the name as it is written.
      List<InetAddress> found = List.of(InetAddress.getAllByName(host));
      NEWEST.remove(host);
      return found;
    }
  }

  private static boolean isCacheSet() {
    return Security.getProperty("networkaddress.cache.ttl") != null;
  }

  /** Returns the spelling of a host for which the JVM has the addresses that were found last. */
  static String spelled(String host) {
    Spelling newest = NEWEST.get(host);
    return newest == null ? host : newest.text;
  }

  /** Each bit of {@code number} is the case of one letter. */
  private static String respelled(String host, int number) {
    StringBuilder text = new StringBuilder(host.toLowerCase(Locale.ROOT));
    int bits = number;
    for (int i = 0; i < text.length() && bits != 0; i++) {
      char letter = text.charAt(i);
      if (letter >= 'a' && letter <= 'z') {
        text.setCharAt(i, (bits & 1) == 0 ? letter : (char) (letter - 'a' + 'A'));
        bits >>>= 1;
      }
    }
    return text.toString();
  }
}
