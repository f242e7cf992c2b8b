package io.lockkeeper.client.internal.transport;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.IoHandlerFactory;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The threads that read and write the connections of all clients in the process: one for every four
 * processors. gRPC would start two for each processor; then a lock that passes from one client of
 * the process to another would wake a second thread, which costs more than all other work of
 * either. Started when a channel is opened; ended some seconds after the last was shut down.
 */
public final class IoThreads {

  /** The last channel may still have to send, and the next may be opened soon. */
  private static final Duration LINGER = Duration.ofSeconds(4);

  private static final int PROCESSORS_A_THREAD = 4;
  private static final IoThreads SHARED = new IoThreads(LINGER);

  private final Duration linger;
  private Optional<EventLoopGroup> threads = Optional.empty();
  private int channels;
  private int opened;

  /** Makes separate threads, for tests, that outlive the last channel by {@code linger}. */
  public IoThreads(Duration linger) {
    this.linger = linger;
  }

  /** Returns the threads of this process. */
  static IoThreads shared() {
    return SHARED;
  }

  /** Builds a channel that uses these threads, if its transport is gRPC's Netty. */
  public ManagedChannel build(ManagedChannelBuilder<?> builder) {
    if (!(builder instanceof NettyChannelBuilder netty)) {
      return builder.build();
    }
    netty.eventLoopGroup(begin()).channelType(channelType());
    try {
      ManagedChannel channel = netty.build();
      awaitShutdown(channel);
      return channel;
    } catch (RuntimeException e) {
      end();
      throw e;
    }
  }

  private synchronized EventLoopGroup begin() {
    channels++;
    opened++;
    if (threads.isEmpty()) {
      threads = Optional.of(start());
    }
    return threads.get();
  }

  private void awaitShutdown(ManagedChannel channel) {
    ConnectivityState state = channel.getState(false);
    if (state == ConnectivityState.SHUTDOWN) {
      end();
    } else {
      channel.notifyWhenStateChanged(state, () -> awaitShutdown(channel));
    }
  }

  private synchronized void end() {
    channels--;
    if (channels == 0) {
      int last = opened;
      var unused =
          threads
              .orElseThrow()
              .schedule(() -> stopUnlessUsed(last), linger.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private synchronized void stopUnlessUsed(int last) {
    if (opened == last) {
      var unused = threads.orElseThrow().shutdownGracefully(0, 1, TimeUnit.SECONDS);
      threads = Optional.empty();
    }
  }

  private static EventLoopGroup start() {
    int count = Math.max(1, Runtime.getRuntime().availableProcessors() / PROCESSORS_A_THREAD);
    IoHandlerFactory handlers =
        Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    return new MultiThreadIoEventLoopGroup(
        count, new DefaultThreadFactory("lockkeeper-io", true), handlers);
  }

  private static Class<? extends Channel> channelType() {
    return Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class;
  }
}
