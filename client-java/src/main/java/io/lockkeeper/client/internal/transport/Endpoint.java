package io.lockkeeper.client.internal.transport;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.ManagedChannelBuilder;

/**
 * Where one server listens.
 *
 * @param address {@code host:port}, the host mostly an IP address
 * @param authority {@code host:port} as it was written: the name that a certificate must carry
 */
public record Endpoint(String address, String authority) {

  /** Begins to build a channel to this server only. */
  public ManagedChannelBuilder<?> channelBuilder(ChannelCredentials credentials) {
    int port = address.lastIndexOf(':');
    String target = FreshNames.spelled(address.substring(0, port)) + address.substring(port);
    ManagedChannelBuilder<?> builder = Grpc.newChannelBuilder(target, credentials);
    return target.equals(authority) ? builder : builder.overrideAuthority(authority);
  }

  /** Returns the address, and the name that led to it. */
  @Override
  public String toString() {
    return address.equals(authority) ? address : address + " (" + authority + ")";
  }
}
