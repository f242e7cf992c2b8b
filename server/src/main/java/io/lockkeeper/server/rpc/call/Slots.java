package io.lockkeeper.server.rpc.call;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** So many places in all, and so many for one address. Thread-safe. */
public final class Slots {

  /** Who has a /64 has all its addresses. */
  private static final int NETWORK_BYTES = 8;

  private final int max;
  private final int maxOfAddress;
  private final AtomicInteger taken = new AtomicInteger();
  private final Map<ByteBuffer, Integer> byAddress = new ConcurrentHashMap<>();

  /** Why there is no place. */
  public enum Full {
    /** None is left for anybody. */
    IN_ALL,
    /** The address has as many as it may have. */
    OF_ADDRESS
  }

  /** Makes places that are all free. */
  public Slots(int max, int maxOfAddress) {
    this.max = max;
    this.maxOfAddress = maxOfAddress;
  }

  /** Takes a place, or returns why there is none. Each that was taken must be freed once. */
  public Optional<Full> take(SocketAddress from) {
    if (taken.incrementAndGet() > max) {
      taken.decrementAndGet();
      return Optional.of(Full.IN_ALL);
    }
    Optional<ByteBuffer> network = networkOf(from);
    if (network.isPresent() && byAddress.merge(network.get(), 1, Integer::sum) > maxOfAddress) {
      free(from);
      return Optional.of(Full.OF_ADDRESS);
    }
    return Optional.empty();
  }

  /** Gives a place back. */
  public void free(SocketAddress from) {
    taken.decrementAndGet();
    networkOf(from)
        .ifPresent(
            network ->
                byAddress.computeIfPresent(
                    network, (key, n) -> n == 1 ? null : Integer.valueOf(n - 1)));
  }

  /** Returns how many are taken. */
  public int taken() {
    return taken.get();
  }

  /** Returns by what an address counts; what comes from within the process has none. */
  private static Optional<ByteBuffer> networkOf(SocketAddress from) {
    if (from instanceof InetSocketAddress inet && inet.getAddress() != null) {
      InetAddress address = inet.getAddress();
      byte[] bytes = address.getAddress();
      int length = address instanceof Inet6Address ? NETWORK_BYTES : bytes.length;
      return Optional.of(ByteBuffer.wrap(bytes, 0, length));
    }
    return Optional.empty();
  }
}
