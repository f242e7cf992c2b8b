package io.lockkeeper.bench.lockkeeper;

import io.grpc.Attributes;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder.LocalSocketPicker;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/** Clients of many machines on one: an address may have as much as an identity may. */
final class Hosts {

  private static final int FIRST = 2;

  private Hosts() {}

  /** Returns a channel from the address with that number, counted from 0. */
  static ManagedChannel channel(String server, int number) {
    String host = "127.0.0." + (FIRST + number);
    return NettyChannelBuilder.forTarget(server)
        .usePlaintext()
        .directExecutor()
        .localSocketPicker(
            new LocalSocketPicker() {
              @Override
              public @Nullable SocketAddress createSocketAddress(
                  SocketAddress to, Attributes attributes) {
                return new InetSocketAddress(host, 0);
              }
            })
        .build();
  }
}
