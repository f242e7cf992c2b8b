package io.lockkeeper.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Who talks to whom: every ordered pair of nodes has a loopback address of its own, at which
 * proxies listen on the target's own ports. A node finds its peers by name, in a hosts file of its
 * own, so that what one node is told by another leads through the proxies of the one who was told.
 */
public final class Network implements AutoCloseable {

  private final Map<String, Integer> numbers = new LinkedHashMap<>();
  private final Map<Pair, List<ByteProxy>> links = new LinkedHashMap<>();

  /** A direction in which connections are opened. */
  private record Pair(String from, String to) {}

  /** Opens the way from one node to some ports of another; returns the address to connect to. */
  public String open(String from, String to, int... ports) {
    return open(from, to, Duration.ZERO, ports);
  }

  /** Like {@link #open(String, String, int...)}, by proxies that keep trying for so long. */
  public synchronized String open(String from, String to, Duration patience, int... ports) {
    String host = "127.1." + number(from) + "." + number(to);
    for (int port : ports) {
      ByteProxy proxy = ByteProxy.at(new InetSocketAddress(host, port), port, patience);
      links.computeIfAbsent(new Pair(from, to), unused -> new ArrayList<>()).add(proxy);
    }
    return host;
  }

  private int number(String node) {
    Integer known = numbers.putIfAbsent(node, numbers.size() + 1);
    return known == null ? numbers.size() : known;
  }

  /** Returns all proxies between nodes whose names begin so. */
  public synchronized List<ByteProxy> between(String fromPrefix, String toPrefix) {
    List<ByteProxy> found = new ArrayList<>();
    links.forEach(
        (pair, proxies) -> {
          if (pair.from().startsWith(fromPrefix) && pair.to().startsWith(toPrefix)) {
            found.addAll(proxies);
          }
        });
    return found;
  }

  /** Writes the hosts file of a node, which is itself at 127.0.0.1. */
  public static Path hosts(Path file, String self, Map<String, String> others) {
    List<String> lines = new ArrayList<>(List.of("127.0.0.1 localhost " + self));
    others.forEach((name, address) -> lines.add(address + " " + name));
    try {
      return Files.write(file, lines);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All is as it should be. */
  public synchronized void heal() {
    links.values().forEach(proxies -> proxies.forEach(ByteProxy::heal));
  }

  @Override
  public synchronized void close() {
    links.values().forEach(proxies -> proxies.forEach(ByteProxy::close));
  }
}
