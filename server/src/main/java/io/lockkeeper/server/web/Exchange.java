package io.lockkeeper.server.web;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.ssl.SslHandler;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers the requests of one connection, one after the other. For each there is one time limit,
 * from the end of the answer before until its own answer is sent; who is late finds the connection
 * closed. After so many requests it is closed as well: a visitor proves his certificate anew.
 */
final class Exchange extends SimpleChannelInboundHandler<HttpObject> {

  static final long LIMIT_SECONDS = 10;
  static final int MAX_REQUESTS = 100;

  private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT);
  private static final String CONTENT_POLICY =
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none';"
          + " frame-ancestors 'none'";

  private final Site site;
  private final Connections connections;
  private final WebRefusals refusals;
  private @Nullable Future<?> limit;
  private @Nullable HttpRequest request;
  private int answers;
  private boolean idle;
  private boolean reading;

  Exchange(Site site, Connections connections, WebRefusals refusals) {
    this.site = site;
    this.connections = connections;
    this.refusals = refusals;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    awaitRequest(context);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    stopLimit();
  }

  private void awaitRequest(ChannelHandlerContext context) {
    stopLimit();
    limit = context.executor().schedule(() -> tooLate(context), LIMIT_SECONDS, TimeUnit.SECONDS);
    readOn(context);
  }

  private void readOn(ChannelHandlerContext context) {
    reading = true;
    context.read();
  }

  /** What has come may be less than a part of a request: then the rest is asked for. */
  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (reading) {
      context.read();
    }
  }

  private void stopLimit() {
    if (limit != null) {
      limit.cancel(false);
    }
  }

  private void tooLate(ChannelHandlerContext context) {
    if (!idle) {
      refusals.count(WebRefusals.Limit.HTTP_TIME);
    }
    var unused = context.close();
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
    reading = false;
    if (part instanceof HttpRequest begun) {
      request = begun;
      idle = false;
    }
    HttpRequest current = request;
    if (current == null) {
      return;
    }
    Optional<Page> refusal = refusal(current, part);
    if (refusal.isPresent()) {
      request = null;
      refusals.count(WebRefusals.Limit.HTTP_REQUEST);
      send(context, current, refusal.get(), false);
    } else if (part instanceof LastHttpContent) {
      request = null;
      connections.asked(context.channel());
      answer(context, current);
    } else {
      readOn(context);
    }
  }

  private static Optional<Page> refusal(HttpRequest request, HttpObject part) {
    if (part.decoderResult().isFailure()) {
      Throwable cause = part.decoderResult().cause();
      if (cause instanceof TooLongHttpLineException) {
        return Optional.of(
            Page.text(414, "the request line has more than " + HttpListener.MAX_LINE + " bytes\n"));
      }
      return Optional.of(
          cause instanceof TooLongHttpHeaderException
              ? Page.text(
                  431, "the headers have more than " + HttpListener.MAX_HEADERS + " bytes\n")
              : Page.text(400, "not a request of HTTP/1.1\n"));
    }
    HttpMethod method = request.method();
    if (!method.equals(HttpMethod.GET) && !method.equals(HttpMethod.HEAD)) {
      return Optional.of(Page.text(405, "only GET and HEAD\n").with("Allow", "GET, HEAD"));
    }
    // Any encoding: one that is not known here may be a body to whoever has handed the request on.
    boolean body =
        request.headers().contains(HttpHeaderNames.TRANSFER_ENCODING)
            || HttpUtil.getContentLength(request, 0L) > 0;
    return body ? Optional.of(Page.text(413, "a request has no body here\n")) : Optional.empty();
  }

  private void answer(ChannelHandlerContext context, HttpRequest asked) {
    boolean keepAlive = HttpUtil.isKeepAlive(asked) && ++answers < MAX_REQUESTS;
    String uri = asked.uri();
    int query = uri.indexOf('?');
    Visitor visitor =
        new Visitor(
            peer(context),
            certificate(context),
            Optional.ofNullable(asked.headers().get(HttpHeaderNames.AUTHORIZATION)),
            Optional.ofNullable(asked.headers().get(HttpHeaderNames.HOST)));
    try {
      var unused =
          site.at(query < 0 ? uri : uri.substring(0, query), visitor)
              .exceptionally(Exchange::failed)
              .thenAcceptAsync(page -> send(context, asked, page, keepAlive), context.executor());
    } catch (RuntimeException e) {
      send(context, asked, failed(e), keepAlive);
    }
  }

  private static Page failed(Throwable cause) {
    LOG.atError().setCause(cause).log("A page failed");
    return Page.text(500, "internal error; the server's log says more\n");
  }

  private static String peer(ChannelHandlerContext context) {
    SocketAddress address = context.channel().remoteAddress();
    return address instanceof InetSocketAddress inet && inet.getAddress() != null
        ? inet.getAddress().getHostAddress() + ":" + inet.getPort()
        : String.valueOf(address);
  }

  private static Optional<X509Certificate> certificate(ChannelHandlerContext context) {
    SslHandler tls = context.pipeline().get(SslHandler.class);
    if (tls == null) {
      return Optional.empty();
    }
    try {
      Certificate[] chain = tls.engine().getSession().getPeerCertificates();
      return chain.length > 0 && chain[0] instanceof X509Certificate own
          ? Optional.of(own)
          : Optional.empty();
    } catch (SSLPeerUnverifiedException e) {
      return Optional.empty(); // None was shown.
    }
  }

  private void send(
      ChannelHandlerContext context, HttpRequest asked, Page page, boolean keepAlive) {
    if (page.status() == HttpResponseStatus.UNAUTHORIZED.code()) {
      refusals.count(WebRefusals.Limit.HTTP_IDENTITY);
    }
    byte[] bytes = page.body().getBytes(UTF_8);
    boolean head = asked.method().equals(HttpMethod.HEAD);
    ByteBuf body = head ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(bytes);
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(page.status()), body);
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, page.contentType())
        .set(HttpHeaderNames.CONTENT_LENGTH, bytes.length)
        .set(HttpHeaderNames.DATE, DATE.format(ZonedDateTime.now(ZoneOffset.UTC)))
        .set(HttpHeaderNames.CACHE_CONTROL, "no-store")
        .set("X-Content-Type-Options", "nosniff")
        .set("Referrer-Policy", "no-referrer")
        .set(HttpHeaderNames.CONTENT_SECURITY_POLICY, CONTENT_POLICY);
    page.headers().forEach((name, value) -> response.headers().set(name, value));
    if (!keepAlive) {
      response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    } else if (asked.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
      response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
    }
    var unused =
        context
            .writeAndFlush(response)
            .addListener(
                (ChannelFutureListener)
                    sent -> {
                      if (keepAlive && sent.isSuccess()) {
                        idle = true;
                        connections.answered(context.channel());
                        awaitRequest(context);
                      } else {
                        var unusedToo = context.close();
                      }
                    });
  }

  /** A client that goes away, or speaks no TLS, is nothing to log. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    LOG.atDebug().setCause(cause).log("A connection broke");
    var unused = context.close();
  }
}
