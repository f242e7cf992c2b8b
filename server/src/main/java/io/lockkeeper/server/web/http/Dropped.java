package io.lockkeeper.server.web.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;

/**
 * Drops what still comes of a request that is refused, before it is decoded, and ends the
 * connection where that is more than {@value #MAX_BYTES} bytes.
 */
final class Dropped extends SimpleChannelInboundHandler<ByteBuf> {

  static final int MAX_BYTES = 16 * Exchange.MAX_BODY;

  private long bytes;

  @Override
  protected void channelRead0(ChannelHandlerContext context, ByteBuf part) {
    bytes += part.readableBytes();
    if (bytes > MAX_BYTES) {
      var unused = context.close();
    }
  }
}
