package io.lockkeeper.server.rpc.forward;

import io.grpc.ManagedChannelBuilder;

/**
 * How this coordinator reaches the others.
 *
 * @param ownId its own id
 * @param limits how patient it is with them
 * @param dialer opens connections
 */
public record PeerSetup(String ownId, PeerLimits limits, Dialer dialer) {

  /** Opens connections to peers. */
  public interface Dialer {
    /**
     * Returns a channel to be built; nothing is sent before the first call.
     *
     * @param address {@code host:port}, as the peer advertises it
     * @throws IllegalArgumentException if it is no address
     */
    ManagedChannelBuilder<?> dial(String address);
  }
}
