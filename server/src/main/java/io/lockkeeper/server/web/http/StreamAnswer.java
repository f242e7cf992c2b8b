package io.lockkeeper.server.web.http;

import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * A stream that is being told. A visitor who reads nothing for as long as {@value #PATIENCE_BEATS}
 * beats is cut off, and who is behind while too much is unread on all streams, at once.
 */
final class StreamAnswer implements EventStream.Sink {

  static final long BEAT_SECONDS = 10;
  private static final int PATIENCE_BEATS = 3;

  private final ChannelHandlerContext context;
  private final EventStream events;
  private final Connections connections;
  private final WebRefusals refusals;
  private Future<?> heart;
  private long unread;
  private int missed;
  private boolean flushing;
  private boolean over;

  StreamAnswer(
      ChannelHandlerContext context,
      EventStream events,
      Connections connections,
      WebRefusals refusals) {
    this.context = context;
    this.events = events;
    this.connections = connections;
    this.refusals = refusals;
    this.heart =
        context
            .executor()
            .scheduleAtFixedRate(this::beat, BEAT_SECONDS, BEAT_SECONDS, TimeUnit.SECONDS);
  }

  void start() {
    events.source().start(this);
  }

  void onRoom() {
    if (!over) {
      events.source().onRoom();
    }
  }

  void onGone() {
    heart.cancel(false);
    if (!over) {
      over = true;
      events.source().onGone();
    }
  }

  private void beat() {
    missed = hasRoom() ? 0 : missed + 1;
    if (missed >= PATIENCE_BEATS) {
      cutOff(WebRefusals.Limit.HTTP_TIME);
    }
  }

  private void cutOff(WebRefusals.Limit limit) {
    refusals.count(limit);
    close();
  }

  private void close() {
    var unused = context.close();
  }

  @Override
  public void send(String piece) {
    if (over || piece.isEmpty() || !context.channel().isActive()) {
      return;
    }
    HttpContent part = Exchange.piece(piece);
    int size = part.content().readableBytes();
    if (!connections.holdUnread(size) && unread > 0) {
      connections.releaseUnread(size);
      var unused = part.release();
      cutOff(WebRefusals.Limit.HTTP_UNREAD);
      return;
    }
    unread += size;
    var unused = context.write(part).addListener(sent -> wasSent(size));
    flushSoon();
  }

  /** To the visitor, or into nothing with the connection. */
  private void wasSent(int size) {
    unread -= size;
    connections.releaseUnread(size);
  }

  /** Once for all the pieces that are ready to be sent. */
  private void flushSoon() {
    if (!flushing) {
      flushing = true;
      context.executor().execute(this::flush);
    }
  }

  private void flush() {
    flushing = false;
    context.flush();
  }

  @Override
  public boolean hasRoom() {
    return context.channel().isWritable();
  }

  @Override
  public void end() {
    if (!over) {
      over = true;
      heart.cancel(false);
      long patience = BEAT_SECONDS * PATIENCE_BEATS;
      heart = context.executor().schedule(this::close, patience, TimeUnit.SECONDS);
      var unused =
          context
              .writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT)
              .addListener(ChannelFutureListener.CLOSE);
    }
  }
}
