package io.lockkeeper.client;

import io.grpc.ManagedChannel;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;

/**
 * The servers' addresses, one of them the current. One may be the home: the one that has the lease,
 * which is then tried again between any two of the others. Not thread-safe.
 */
final class Servers {

  private final List<String> addresses;
  private final Function<String, ManagedChannel> channels;
  private int current;
  private OptionalInt home = OptionalInt.empty();
  private int lastOther;

  Servers(Settings settings) {
    this.addresses = settings.servers();
    this.channels = settings.channels();
  }

  /** Returns the address to try now. */
  String current() {
    return addresses.get(current);
  }

  /** Makes the current address the home. */
  void settle() {
    home = OptionalInt.of(current);
    lastOther = current;
  }

  /** There is no home any more. */
  void unsettle() {
    home = OptionalInt.empty();
  }

  /** Returns whether the current address is the home. */
  boolean isHome() {
    return home.isPresent() && home.getAsInt() == current;
  }

  /** Goes back to the home; without one, to the next address. */
  void goHome() {
    current = home.orElse(next(current));
  }

  /** Moves on to the next address, after the last to the first; home between any two others. */
  void moveOn() {
    if (home.isPresent() && !isHome()) {
      lastOther = current;
      goHome();
      return;
    }
    int next = next(isHome() ? lastOther : current);
    current = home.isPresent() && home.getAsInt() == next ? next(next) : next;
  }

  private int next(int index) {
    return (index + 1) % addresses.size();
  }

  /** Opens a connection to the current address. */
  ManagedChannel connect() {
    return channels.apply(current());
  }

  int count() {
    return addresses.size();
  }

  @Override
  public String toString() {
    return String.join(", ", addresses);
  }
}
