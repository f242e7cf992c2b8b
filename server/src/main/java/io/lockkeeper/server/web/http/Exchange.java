package io.lockkeeper.server.web.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.ssl.SslHandler;
import java.io.ByteArrayOutputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.security.cert.X509Certificate;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers the requests of one connection, one after the other. A request has one time limit, from
 * the end of the answer before until it is whole, and its answer has another; who is late finds the
 * connection closed. After so many requests it is closed as well: a visitor proves his certificate
 * anew. A stream is the last answer of its connection.
 */
final class Exchange extends SimpleChannelInboundHandler<HttpObject> {

  static final long LIMIT_SECONDS = 10;

  /** Longer than the coordinator takes at most to say that ZooKeeper does not answer. */
  static final long ANSWER_LIMIT_SECONDS = 20;

  /** How long a visitor may go on with a request that is refused before it is whole. */
  static final long REST_SECONDS = 2;

  static final int MAX_REQUESTS = 100;
  static final int MAX_BODY = 64 * 1024;

  private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT);
  private static final String CONTENT_POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
          + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  /** Headers of which one value counts: a proxy in front may have read another one. */
  private static final List<CharSequence> SINGLE =
      List.of(
          HttpHeaderNames.HOST,
          HttpHeaderNames.AUTHORIZATION,
          HttpHeaderNames.CONTENT_TYPE,
          HttpHeaderNames.ORIGIN);

  private final Site site;
  private final Connections connections;
  private final WebRefusals refusals;
  private final ByteArrayOutputStream body = new ByteArrayOutputStream(0);
  private @Nullable Future<?> limit;
  private @Nullable HttpRequest request;
  private @Nullable CompletableFuture<Response> answer;
  private @Nullable StreamAnswer stream;
  private int answers;
  private boolean idle;
  private boolean reading;
  private boolean early;
  private boolean dropping;
  private boolean hasPlace;

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
    if (answer != null) {
      answer.cancel(false);
    }
    if (stream != null) {
      stream.onGone();
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    if (stream != null && context.channel().isWritable()) {
      stream.onRoom();
    }
  }

  private void awaitRequest(ChannelHandlerContext context) {
    limit(context, LIMIT_SECONDS);
    readOn(context);
  }

  private void limit(ChannelHandlerContext context, long seconds) {
    stopLimit();
    limit = context.executor().schedule(() -> tooLate(context), seconds, TimeUnit.SECONDS);
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
    if (!idle && !dropping) {
      refusals.count(WebRefusals.Limit.HTTP_TIME);
    }
    var unused = context.close();
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
    reading = false;
    if (dropping) {
      return;
    }
    if (stream != null) {
      // Who has more to say is not read on, and then nobody would see him go.
      var unused = context.close();
      return;
    }
    if (answer != null) {
      early = true; // One request at a time: this one is not read, and the connection ends.
      return;
    }
    if (part instanceof HttpRequest begun) {
      request = begun;
      idle = false;
      body.reset();
    }
    HttpRequest current = request;
    if (current == null) {
      return;
    }
    Optional<Page> refusal = refusal(current, part);
    if (refusal.isPresent()) {
      request = null;
      refusals.count(WebRefusals.Limit.HTTP_REQUEST);
      dropTheRest(context);
      send(context, current, refusal.get(), false);
      return;
    }
    if (part instanceof HttpContent content) {
      take(content.content());
    }
    if (part instanceof LastHttpContent) {
      request = null;
      connections.asked(context.channel());
      answer(context, current);
    } else {
      if (part instanceof HttpRequest && HttpUtil.is100ContinueExpected(current)) {
        var unused = context.writeAndFlush(response(HttpResponseStatus.CONTINUE, ""));
      }
      readOn(context);
    }
  }

  /**
   * A connection that is closed before all that has come is read is reset, and our answer is lost.
   */
  private void dropTheRest(ChannelHandlerContext context) {
    dropping = true;
    limit(context, REST_SECONDS);
    context
        .pipeline()
        .addBefore(context.pipeline().context(HttpServerCodec.class).name(), null, new Dropped());
    context.channel().config().setAutoRead(true);
  }

  private void take(ByteBuf part) {
    byte[] bytes = new byte[part.readableBytes()];
    part.getBytes(part.readerIndex(), bytes);
    body.write(bytes, 0, bytes.length);
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
    Optional<Page> ofHeaders = refusalOfHeaders(request);
    if (ofHeaders.isPresent()) {
      return ofHeaders;
    }
    if (request.method().equals(HttpMethod.POST)) {
      return refusalOfBody(request);
    }
    if (!isRead(request)) {
      return Optional.of(
          Page.text(405, "only GET, HEAD and POST\n").with("Allow", "GET, HEAD, POST"));
    }
    // Any encoding: one that is not known here may be a body to whoever has handed the request on.
    boolean hasBody =
        request.headers().contains(HttpHeaderNames.TRANSFER_ENCODING)
            || HttpUtil.getContentLength(request, 0L) > 0;
    return hasBody ? Optional.of(Page.text(413, "a request has no body here\n")) : Optional.empty();
  }

  private static Optional<Page> refusalOfHeaders(HttpRequest request) {
    HttpVersion version = request.protocolVersion();
    if (!version.equals(HttpVersion.HTTP_1_1) && !version.equals(HttpVersion.HTTP_1_0)) {
      return Optional.of(Page.text(505, "only HTTP/1.1 and HTTP/1.0\n"));
    }
    if (version.equals(HttpVersion.HTTP_1_1) && !request.headers().contains(HttpHeaderNames.HOST)) {
      return Optional.of(Page.text(400, "the header Host is missing\n"));
    }
    for (CharSequence name : SINGLE) {
      if (request.headers().getAll(name).size() > 1) {
        return Optional.of(Page.text(400, "there is more than one header " + name + "\n"));
      }
    }
    return Optional.empty();
  }

  private static boolean isRead(HttpRequest request) {
    return request.method().equals(HttpMethod.GET) || request.method().equals(HttpMethod.HEAD);
  }

  private static Optional<Page> refusalOfBody(HttpRequest request) {
    if (request.headers().contains(HttpHeaderNames.TRANSFER_ENCODING)
        || !request.headers().contains(HttpHeaderNames.CONTENT_LENGTH)) {
      return Optional.of(Page.text(411, "a body must have a Content-Length, and no encoding\n"));
    }
    CharSequence charset = HttpUtil.getCharsetAsSequence(request);
    if (request.headers().contains(HttpHeaderNames.CONTENT_ENCODING)
        || (charset != null && !UTF_8.name().equalsIgnoreCase(unquoted(charset)))) {
      return Optional.of(Page.text(415, "a body must be in UTF-8, and not encoded\n"));
    }
    return HttpUtil.getContentLength(request, 0L) > MAX_BODY
        ? Optional.of(Page.text(413, "the body has more than " + MAX_BODY + " bytes\n"))
        : Optional.empty();
  }

  private static String unquoted(CharSequence text) {
    return text.toString().replaceFirst("^\"(.*)\"$", "$1");
  }

  private void answer(ChannelHandlerContext context, HttpRequest asked) {
    limit(context, ANSWER_LIMIT_SECONDS);
    boolean more = ++answers < MAX_REQUESTS;
    try {
      String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(body.toByteArray())).toString();
      CompletableFuture<Response> coming = site.at(request(context, asked, text));
      answer = coming;
      if (!coming.isDone()) {
        readOn(
            context); // Only a connection that is read from is known to be closed by its visitor.
      }
      var unused =
          coming
              .exceptionally(Exchange::failed)
              .thenAcceptAsync(come -> give(context, asked, come, more), context.executor())
              .exceptionally(cause -> broke(context, cause));
    } catch (CharacterCodingException e) {
      refusals.count(WebRefusals.Limit.HTTP_REQUEST);
      give(context, asked, Page.text(400, "the body is not in UTF-8\n"), more);
    } catch (RuntimeException e) {
      give(context, asked, failed(e), more);
    }
  }

  private Request request(ChannelHandlerContext context, HttpRequest asked, String text) {
    String uri = asked.uri();
    int query = uri.indexOf('?');
    Visitor visitor =
        new Visitor(
            (InetSocketAddress) context.channel().remoteAddress(),
            certificates(context),
            Optional.ofNullable(asked.headers().get(HttpHeaderNames.AUTHORIZATION)),
            Optional.ofNullable(asked.headers().get(HttpHeaderNames.HOST)));
    return new Request(
        asked.method().name(),
        query < 0 ? uri : uri.substring(0, query),
        query < 0 ? "" : uri.substring(query + 1),
        asked.headers(),
        text,
        visitor,
        context.executor(),
        () -> streamRefusal(context, asked));
  }

  private static Response failed(Throwable cause) {
    Throwable root =
        cause instanceof CompletionException && cause.getCause() != null ? cause.getCause() : cause;
    if (!(root instanceof CancellationException)) {
      LOG.atError().setCause(root).log("A page failed");
    }
    return Page.text(500, "internal error; the server's log says more\n");
  }

  private static @Nullable Void broke(ChannelHandlerContext context, Throwable cause) {
    LOG.atError().setCause(cause).log("An answer could not be given");
    var unused = context.close();
    return null;
  }

  private void give(ChannelHandlerContext context, HttpRequest asked, Response come, boolean more) {
    answer = null;
    if (come instanceof EventStream events && early) {
      events.source().onGone();
      send(context, asked, Page.text(400, "nothing may follow the request for a stream\n"), false);
    } else if (come instanceof EventStream events) {
      tell(context, events);
    } else {
      // A place is given back with its connection.
      boolean keepAlive = HttpUtil.isKeepAlive(asked) && more && !early && !hasPlace;
      send(context, asked, (Page) come, keepAlive);
    }
  }

  private static List<X509Certificate> certificates(ChannelHandlerContext context) {
    SslHandler tls = context.pipeline().get(SslHandler.class);
    if (tls == null) {
      return List.of();
    }
    try {
      return Arrays.stream(tls.engine().getSession().getPeerCertificates())
          .map(X509Certificate.class::cast)
          .toList();
    } catch (SSLPeerUnverifiedException e) {
      return List.of(); // None was shown.
    }
  }

  private void send(
      ChannelHandlerContext context, HttpRequest asked, Page page, boolean keepAlive) {
    if (page.status() == HttpResponseStatus.UNAUTHORIZED.code()) {
      refusals.count(WebRefusals.Limit.HTTP_IDENTITY);
    }
    HttpResponse response = response(HttpResponseStatus.valueOf(page.status()), page.body());
    if (asked.method().equals(HttpMethod.HEAD)) {
      response = ((DefaultFullHttpResponse) response).replace(Unpooled.EMPTY_BUFFER);
    }
    common(response, page.contentType());
    HttpResponse whole = response;
    page.headers().forEach((name, value) -> whole.headers().set(name, value));
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
                      } else if (dropping && context.channel() instanceof DuplexChannel channel) {
                        var unusedToo = endOutput(channel);
                      } else {
                        var unusedToo = context.close();
                      }
                    });
  }

  private static Future<?> endOutput(DuplexChannel channel) {
    SslHandler tls = channel.pipeline().get(SslHandler.class);
    return tls == null ? channel.shutdownOutput() : tls.closeOutbound();
  }

  private static HttpResponse response(HttpResponseStatus status, String text) {
    ByteBuf bytes = Unpooled.copiedBuffer(text, UTF_8);
    DefaultFullHttpResponse response =
        new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, bytes);
    // Of an answer without a body, the length would be that of the body that it stands for.
    if (!status.equals(HttpResponseStatus.CONTINUE)
        && !status.equals(HttpResponseStatus.NOT_MODIFIED)) {
      response.headers().set(HttpHeaderNames.CONTENT_LENGTH, bytes.readableBytes());
    }
    return response;
  }

  private static void common(HttpResponse response, String contentType) {
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, contentType)
        .set(HttpHeaderNames.DATE, DATE.format(ZonedDateTime.now(ZoneOffset.UTC)))
        .set(HttpHeaderNames.CACHE_CONTROL, "no-store")
        .set("X-Content-Type-Options", "nosniff")
        .set("Referrer-Policy", "no-referrer")
        .set(HttpHeaderNames.CONTENT_SECURITY_POLICY, CONTENT_POLICY);
  }

  /** Before anything is asked for: what a stream gets may not be gone again at once. */
  private Optional<Request.StreamRefusal> streamRefusal(
      ChannelHandlerContext context, HttpRequest asked) {
    if (!asked.protocolVersion().equals(HttpVersion.HTTP_1_1)) {
      return Optional.of(Request.StreamRefusal.OLD_PROTOCOL);
    }
    hasPlace = hasPlace || connections.stream(context.channel());
    return hasPlace ? Optional.empty() : Optional.of(Request.StreamRefusal.NO_PLACE);
  }

  private void tell(ChannelHandlerContext context, EventStream events) {
    if (!context.channel().isActive()) {
      events.source().onGone();
      return;
    }
    stopLimit();
    HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
    common(head, events.contentType());
    head.headers()
        .set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED)
        .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    var unused = context.writeAndFlush(head);
    stream = new StreamAnswer(context, events, connections, refusals);
    stream.start();
  }

  /** A client that goes away, or speaks no TLS, is nothing to log. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    LOG.atDebug().setCause(cause).log("A connection broke");
    var unused = context.close();
  }

  /** Returns a piece of a body. */
  static HttpContent piece(String text) {
    return new DefaultHttpContent(Unpooled.copiedBuffer(text, UTF_8));
  }
}
