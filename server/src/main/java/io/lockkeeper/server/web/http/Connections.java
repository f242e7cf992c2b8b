package io.lockkeeper.server.web.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The connections of one listener, of which there may be so many in all and from one address. Where
 * there is no room for another, the one goes that has kept the server waiting for longest for its
 * request: so whoever asks at once is answered, whatever others do. Stands first in the listening
 * channel; all on one thread.
 */
@Sharable
final class Connections extends ChannelInboundHandlerAdapter {

  static final int MAX = 1_024;

  /** Streams stay, and cannot be told to make room: at most half of all are streams. */
  static final int MAX_STREAMS = MAX / 2;

  private static final int MAX_STREAMS_OF_ADDRESS = HttpListener.MAX_OF_ADDRESS / 2;

  /**
   * How many bytes may be on their way to the readers of streams before those who are behind go.
   */
  static final long MAX_UNREAD = 16L * 1024 * 1024;

  private final WebRefusals refusals;
  private final Map<InetAddress, Integer> byAddress = new HashMap<>();
  // In the order in which they began to wait; what is being answered is not in it.
  private final Map<Channel, InetAddress> waiting = new LinkedHashMap<>();
  private final Map<InetAddress, Integer> streamsByAddress = new HashMap<>();
  private int open;
  private int streams;
  private long unread;

  Connections(WebRefusals refusals) {
    this.refusals = refusals;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    Channel connection = (Channel) message;
    InetAddress from = addressOf(connection);
    if (byAddress.getOrDefault(from, 0) >= HttpListener.MAX_OF_ADDRESS) {
      refusals.count(WebRefusals.Limit.HTTP_ADDRESS_CONNECTIONS);
      evict(Optional.of(from));
    } else if (open >= MAX) {
      refusals.count(WebRefusals.Limit.HTTP_CONNECTIONS);
      evict(Optional.empty());
    }
    if (byAddress.getOrDefault(from, 0) >= HttpListener.MAX_OF_ADDRESS || open >= MAX) {
      connection.unsafe().closeForcibly();
      return;
    }
    open++;
    byAddress.merge(from, 1, Integer::sum);
    waiting.put(connection, from);
    var unused = connection.closeFuture().addListener(closed -> forget(connection, from));
    context.fireChannelRead(message);
  }

  /** Closes the connection that has waited for longest: of the address, or of all. */
  private void evict(Optional<InetAddress> of) {
    Optional<Channel> oldest =
        waiting.entrySet().stream()
            .filter(entry -> of.isEmpty() || of.get().equals(entry.getValue()))
            .map(Map.Entry::getKey)
            .findFirst();
    if (oldest.isPresent()) {
      var unused = oldest.get().close();
    }
  }

  private void forget(Channel connection, InetAddress from) {
    waiting.remove(connection);
    open--;
    byAddress.merge(from, -1, (count, one) -> count == 1 ? null : count - 1);
  }

  /** Says that the request has come, and is being answered. */
  void asked(Channel connection) {
    waiting.remove(connection);
  }

  /** Says that the next request is waited for. */
  void answered(Channel connection) {
    if (connection.isActive()) {
      waiting.put(connection, addressOf(connection));
    }
  }

  /**
   * Takes a place for a stream, until its connection is closed.
   *
   * @return whether there was one
   */
  boolean stream(Channel connection) {
    InetAddress from = addressOf(connection);
    if (streams >= MAX_STREAMS
        || streamsByAddress.getOrDefault(from, 0) >= MAX_STREAMS_OF_ADDRESS) {
      refusals.count(WebRefusals.Limit.HTTP_STREAMS);
      return false;
    }
    streams++;
    streamsByAddress.merge(from, 1, Integer::sum);
    var unused =
        connection
            .closeFuture()
            .addListener(
                closed -> {
                  streams--;
                  streamsByAddress.merge(from, -1, (count, one) -> count == 1 ? null : count - 1);
                });
    return true;
  }

  /**
   * Counts bytes that go out, and returns whether all that are on their way are within the limit.
   */
  boolean holdUnread(int bytes) {
    unread += bytes;
    return unread <= MAX_UNREAD;
  }

  /** Says that bytes have gone out. */
  void releaseUnread(int bytes) {
    unread -= bytes;
  }

  private static InetAddress addressOf(Channel connection) {
    return connection.remoteAddress() instanceof InetSocketAddress inet && inet.getAddress() != null
        ? inet.getAddress()
        : InetAddress.getLoopbackAddress();
  }
}
