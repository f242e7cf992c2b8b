package io.lockkeeper.client;

import io.grpc.ManagedChannel;
import java.util.List;
import java.util.function.Function;

/** The servers' addresses, one of them the current. Not thread-safe. */
final class Servers {

  private final List<String> addresses;
  private final Function<String, ManagedChannel> channels;
  private int current;

  Servers(Settings settings) {
    this.addresses = settings.servers();
    this.channels = settings.channels();
  }

  /** Returns the address to try now. */
  String current() {
    return addresses.get(current);
  }

  /** Moves on to the next address, after the last to the first. */
  void moveOn() {
    current = (current + 1) % addresses.size();
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
