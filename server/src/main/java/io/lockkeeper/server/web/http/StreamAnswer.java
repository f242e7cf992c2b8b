package io.lockkeeper.server.web.http;

import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * A stream that is being told. A visitor who reads nothing for as long as {@value #PATIENCE_BEATS}
 * heartbeats is cut off.
 */
final class StreamAnswer implements EventStream.Sink {

  static final long HEARTBEAT_SECONDS = 10;
  private static final int PATIENCE_BEATS = 3;

  private final ChannelHandlerContext context;
  private final EventStream events;
  private final Runnable onTooSlow;
  private final Future<?> heart;
  private int missed;
  private boolean flushing;
  private boolean over;

  /**
   * Prepares.
   *
   * @param onTooSlow hears of a visitor who is cut off because he does not read
   */
  StreamAnswer(ChannelHandlerContext context, EventStream events, Runnable onTooSlow) {
    this.context = context;
    this.events = events;
    this.onTooSlow = onTooSlow;
    this.heart =
        context
            .executor()
            .scheduleAtFixedRate(
                this::beat, HEARTBEAT_SECONDS, HEARTBEAT_SECONDS, TimeUnit.SECONDS);
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
      onTooSlow.run();
      var unused = context.close();
    } else if (missed == 0 && !events.heartbeat().isEmpty()) {
      send(events.heartbeat());
    }
  }

  @Override
  public void send(String piece) {
    if (!over && !piece.isEmpty()) {
      var unused = context.write(Exchange.piece(piece));
      flushSoon();
    }
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
      var unused =
          context
              .writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT)
              .addListener(ChannelFutureListener.CLOSE);
    }
  }
}
