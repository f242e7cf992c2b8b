package io.lockkeeper.client.internal.transport;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server as users write it. The host may be a name that stands for several servers.
 *
 * @param host a name or an IP address, without brackets
 * @param port 0 to 65535
 */
public record Target(String host, int port) {

  private static final int DEFAULT_PORT = 7420;
  private static final int MAX_PORT = 65_535;
  private static final Pattern SHAPE =
      Pattern.compile("(?:dns:///)?(?:\\[([0-9A-Fa-f:.%]+)]|([^\\[\\]:/\\s,]+))(?::(\\d{1,5}))?");
  private static final Pattern LOOPBACK =
      Pattern.compile(
          "localhost|127\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}|::1", Pattern.CASE_INSENSITIVE);
  private static final Pattern IP_V4 = Pattern.compile("[0-9.]+");

  /** Looks up the addresses of hosts. */
  public interface Resolver {

    /** The system's resolver, without the JVM's cache. */
    Resolver SYSTEM = FreshNames::lookUp;

    /**
     * Returns all addresses of a host. May block.
     *
     * @throws UnknownHostException if there are none, or they cannot be looked up
     */
    List<InetAddress> lookUp(String host) throws UnknownHostException;

    /** Returns whether {@link #lookUp} may block. */
    default boolean mayWait() {
      return true;
    }
  }

  /**
   * Reads {@code host:port,…}; the port is optional, and {@code dns:///} may precede a name.
   *
   * @throws IllegalArgumentException if an address is malformed
   */
  public static List<Target> parseList(String text) {
    return Arrays.stream(text.split(",", -1)).map(String::strip).map(Target::parse).toList();
  }

  private static Target parse(String text) {
    Matcher parts = SHAPE.matcher(text);
    boolean matches = parts.matches();
    int port = matches && parts.group(3) != null ? Integer.parseInt(parts.group(3)) : DEFAULT_PORT;
    if (!matches || port > MAX_PORT) {
      throw new IllegalArgumentException(
          "\""
              + text
              + "\" is not an address: write host:port,host:port,… (or [::1]:port for IPv6), or a"
              + " name that stands for all servers");
    }
    Target target = new Target(Optional.ofNullable(parts.group(1)).orElse(parts.group(2)), port);
    if (!target.isHostOfUri()) {
      throw new IllegalArgumentException(
          "\""
              + target.host
              + "\" is not a host name that gRPC accepts: in host:port, use letters, digits, '-' and"
              + " '.', but not '_', and begin the last of several parts of the host with a letter");
    }
    return target;
  }

  /** gRPC resolves what java.net.URI takes for a host. */
  private boolean isHostOfUri() {
    try {
      return new URI("//" + this).getHost() != null;
    } catch (URISyntaxException e) {
      return false;
    }
  }

  /** Returns whether there is nothing to look up. */
  public boolean isLiteral() {
    return host.indexOf(':') >= 0 || IP_V4.matcher(host).matches();
  }

  /** Returns whether the server is on this machine, by its name alone. */
  public boolean isLoopback() {
    return LOOPBACK.matcher(host).matches();
  }

  /** Returns the server itself, if the host stands for only one. */
  public Endpoint asWritten() {
    return new Endpoint(toString(), toString());
  }

  /**
   * Returns the servers that the host stands for: one for each address. A host with one address, or
   * one of each family, is one server, and gRPC resolves it as it was written.
   *
   * @throws UnknownHostException as {@code resolver} does
   */
  public List<Endpoint> lookUp(Resolver resolver) throws UnknownHostException {
    if (isLiteral()) {
      return List.of(asWritten());
    }
    List<InetAddress> addresses = resolver.lookUp(host);
    long v4 = addresses.stream().filter(Inet4Address.class::isInstance).count();
    long v6 = addresses.stream().filter(Inet6Address.class::isInstance).count();
    if (v4 <= 1 && v6 <= 1) {
      return List.of(asWritten());
    }
    return addresses.stream()
        .map(InetAddress::getHostAddress)
        .distinct()
        .map(address -> new Endpoint(join(address, port), toString()))
        .toList();
  }

  private static String join(String host, int port) {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }

  /** Returns {@code host:port}, with an IPv6 address in brackets. */
  @Override
  public String toString() {
    return join(host, port);
  }
}
