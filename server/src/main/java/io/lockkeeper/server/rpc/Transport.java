package io.lockkeeper.server.rpc;

import io.grpc.ManagedChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandler;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.IoHandlerFactory;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.RecvByteBufAllocator;
import io.grpc.netty.shaded.io.netty.channel.ServerChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.rpc.call.ServerLimits;
import java.util.concurrent.TimeUnit;

/**
 * The network under gRPC: its threads, one for each processor, which connections to peers share;
 * and what one connection may do. Opened once and closed once. Netty's default, twice as many
 * threads, wakes each of them for less.
 */
final class Transport {

  /**
   * How many calls one connection can reset in {@link #RESET_SECONDS}. Hanging up is how an Acquire
   * stream without a lease releases its lock, so a busy client does it some hundred times a second,
   * and one that stops does it for all of its open calls at once. A client that is cut off loses
   * such locks, so the limit is well above that. A flood costs ZooKeeper two writes for each.
   */
  private static final int RESETS = 10_000;

  private static final int RESET_SECONDS = 10;

  private static final int LEAST_BUFFER = 64;
  private static final int FIRST_BUFFER = 2 * 1024;

  private final EventLoopGroup acceptor;
  private final EventLoopGroup workers;

  Transport() {
    this.acceptor = group(1, "lockkeeper-grpc-accept");
    this.workers = group(Runtime.getRuntime().availableProcessors(), "lockkeeper-grpc");
  }

  /** Makes a group; none of its threads runs before it has something to do. */
  private static EventLoopGroup group(int threads, String name) {
    IoHandlerFactory io =
        Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    return new MultiThreadIoEventLoopGroup(threads, new DefaultThreadFactory(name, true), io);
  }

  /**
   * Sets up a server.
   *
   * @param gate sees each connection first
   */
  NettyServerBuilder setUp(NettyServerBuilder server, GrpcLimits limits, ChannelHandler gate) {
    return server
        .bossEventLoopGroup(acceptor)
        .workerEventLoopGroup(workers)
        .channelFactory(() -> listening(gate))
        .maxInboundMessageSize(limits.maxMessageBytes())
        .maxInboundMetadataSize(limits.maxHeaderListBytes())
        .maxConcurrentCallsPerConnection(limits.maxCallsPerConnection())
        .flowControlWindow(ServerLimits.WINDOW_BYTES)
        .withChildOption(ChannelOption.RECVBUF_ALLOCATOR, buffers())
        .maxRstFramesPerWindow(RESETS, RESET_SECONDS)
        // A client whose host vanished is found out; one that pings as often as ours do is not sent
        // away for it.
        .keepAliveTime(10, TimeUnit.SECONDS)
        .keepAliveTimeout(5, TimeUnit.SECONDS)
        .permitKeepAliveTime(5, TimeUnit.SECONDS)
        .permitKeepAliveWithoutCalls(true)
        .handshakeTimeout(10, TimeUnit.SECONDS);
  }

  private static RecvByteBufAllocator buffers() {
    return new AdaptiveRecvByteBufAllocator(LEAST_BUFFER, FIRST_BUFFER, ServerLimits.BUFFER_BYTES);
  }

  private static ServerChannel listening(ChannelHandler gate) {
    ServerChannel channel =
        Epoll.isAvailable() ? new EpollServerSocketChannel() : new NioServerSocketChannel();
    channel.pipeline().addFirst(gate);
    return channel;
  }

  /** Lets a connection to a peer share the threads. */
  ManagedChannelBuilder<?> share(ManagedChannelBuilder<?> peer) {
    return peer instanceof NettyChannelBuilder netty
        ? netty
            .eventLoopGroup(workers)
            .channelType(Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class)
        : peer;
  }

  /** Ends the threads, once nothing uses them any more. Does not wait. Idempotent. */
  void close() {
    var unusedAcceptor = acceptor.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    var unusedWorkers = workers.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
