package io.lockkeeper.server.web.http;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves a site over HTTP/1.1 at one address, on one thread that never waits for anybody: neither a
 * client that sends or reads slowly, nor the coordinator. Started once and stopped once.
 */
public final class HttpListener {

  /** How many connections one address may have. */
  public static final int MAX_OF_ADDRESS = 256;

  static final int MAX_LINE = 4 * 1024;
  static final int MAX_HEADERS = 16 * 1024;

  private static final Logger LOG = LoggerFactory.getLogger(HttpListener.class);
  private static final int BACKLOG = 512;

  private final String name;
  private final String host;
  private final int port;
  private final Site site;
  private final Optional<SslContext> tls;
  private final WebRefusals refusals;
  private final EventLoopGroup thread;
  private volatile Optional<Channel> listening = Optional.empty();

  /**
   * Prepares.
   *
   * @param name what is listened for, such as {@code HTTP}
   * @param tls TLS, or empty for plaintext
   */
  public HttpListener(
      String name,
      String host,
      int port,
      Site site,
      Optional<SslContext> tls,
      WebRefusals refusals) {
    this.name = name;
    this.host = host;
    this.port = port;
    this.site = site;
    this.tls = tls;
    this.refusals = refusals;
    this.thread = new NioEventLoopGroup(1, new DefaultThreadFactory("lockkeeper-http", true));
  }

  /**
   * Listens and serves.
   *
   * @throws IOException if the address cannot be listened on; the message names it
   */
  public void start() throws IOException {
    InetSocketAddress address = new InetSocketAddress(host, port);
    try {
      if (address.isUnresolved()) {
        throw new IOException("unknown host");
      }
      listening = Optional.of(bind(address));
      LOG.atInfo().addKeyValue("address", host + ":" + port()).log(name + " endpoint listens");
    } catch (IOException e) {
      stop();
      throw new IOException(
          "cannot listen for " + name + " on " + host + ":" + port + ": " + e.getMessage(), e);
    }
  }

  private Channel bind(InetSocketAddress address) throws IOException {
    Connections connections = new Connections(refusals);
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(thread)
            .channelFactory(
                () -> {
                  NioServerSocketChannel channel = new NioServerSocketChannel();
                  channel.pipeline().addFirst(connections);
                  return channel;
                })
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            // One request is read at a time: the next waits in its socket.
            .childOption(ChannelOption.AUTO_READ, false)
            // A visitor whose machine is gone holds nothing for longer than some twenty seconds,
            // unless something is on its way to it, such as a heartbeat: then for as long as the
            // kernel sends it again.
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), 10)
            .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL), 5)
            .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT), 2)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel connection) {
                    initialize(connection, connections);
                  }
                });
    var bound = bootstrap.bind(address).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      Throwable cause = bound.cause();
      throw new IOException(cause.getMessage(), cause);
    }
    return bound.channel();
  }

  private void initialize(SocketChannel connection, Connections connections) {
    tls.ifPresent(
        context -> {
          SslHandler handler = context.newHandler(connection.alloc());
          handler.setHandshakeTimeout(Exchange.LIMIT_SECONDS, TimeUnit.SECONDS);
          connection.pipeline().addLast(handler);
        });
    connection
        .pipeline()
        .addLast(
            new HttpServerCodec(
                new HttpDecoderConfig()
                    .setMaxInitialLineLength(MAX_LINE)
                    .setMaxHeaderSize(MAX_HEADERS)),
            new FlowControlHandler(),
            new Exchange(site, connections, refusals));
  }

  /**
   * Returns the port that is listened on.
   *
   * @throws IllegalStateException if it has not been started
   */
  public int port() {
    Channel channel = listening.orElseThrow(() -> new IllegalStateException("not started"));
    return ((InetSocketAddress) channel.localAddress()).getPort();
  }

  /** Stops, with all connections. Returns when nothing listens any more. Idempotent. */
  public void stop() {
    listening.ifPresent(channel -> channel.close().awaitUninterruptibly(1, TimeUnit.SECONDS));
    var unused = thread.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
