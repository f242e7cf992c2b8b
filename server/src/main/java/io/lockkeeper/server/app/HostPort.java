package io.lockkeeper.server.app;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A TCP address as people type it.
 *
 * @param host a name or an IP address, never empty
 * @param port 0 to 65535; to listen on port 0 is to let the system choose one
 */
public record HostPort(String host, int port) {

  private static final Pattern SHAPE =
      Pattern.compile("(?:\\[([0-9A-Fa-f:.%]+)]|([^\\[\\]:/\\s,]+)):(\\d{1,5})");

  private static final Pattern WILDCARD = Pattern.compile("0\\.0\\.0\\.0|::|(?:0{1,4}:){7}0{1,4}");

  private static final Pattern LOOPBACK =
      Pattern.compile(
          "localhost|127\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}|::1|(?:0{1,4}:){7}0{0,3}1",
          Pattern.CASE_INSENSITIVE);

  /**
   * Returns the address that {@code text} says: {@code host:port}, or {@code [address]:port} for
   * IPv6.
   *
   * @throws IllegalArgumentException if it is something else, with a message that says so
   */
  public static HostPort parse(String text) {
    Matcher matcher = SHAPE.matcher(text.strip());
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "\"" + text + "\" is not an address: write host:port, or [::1]:port for IPv6");
    }
    int port = Integer.parseInt(matcher.group(3));
    if (port > 65_535) {
      throw new IllegalArgumentException("port " + port + " is above 65535");
    }
    return new HostPort(matcher.group(1) != null ? matcher.group(1) : matcher.group(2), port);
  }

  /**
   * Returns the addresses of a comma-separated list.
   *
   * @throws IllegalArgumentException if one of them is not an address, or there is none
   */
  public static List<HostPort> parseList(String text) {
    return Arrays.stream(text.split(",", -1)).map(HostPort::parse).toList();
  }

  /** Returns whether only this machine reaches it: by its name and its range, without a lookup. */
  public boolean isLoopback() {
    return LOOPBACK.matcher(host).matches();
  }

  /** Returns whether it stands for all addresses of this machine: to listen on, not to call. */
  boolean isWildcard() {
    return WILDCARD.matcher(host).matches();
  }

  /** Returns why others cannot connect to this host, as far as its text shows. */
  Optional<String> whyNotReachable() {
    if (isWildcard()) {
      return Optional.of(host + " is an address to listen on: others cannot connect to it");
    }
    return isHostOfUri()
        ? Optional.empty()
        : Optional.of(
            "\""
                + host
                + "\" is not a host name that gRPC accepts: use letters, digits, '-' and '.', but not '_', and begin the"
                + " last of several parts with a letter");
  }

  /** gRPC resolves what java.net.URI takes for a host. */
  private boolean isHostOfUri() {
    try {
      return new URI("//" + this).getHost() != null;
    } catch (URISyntaxException e) {
      return false;
    }
  }

  /** Returns {@code host:port}, with an IPv6 address in brackets. */
  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
