package io.lockkeeper.client;

import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannel;
import io.lockkeeper.client.internal.context.Settings;
import io.lockkeeper.client.internal.loop.CallerRuns;
import io.lockkeeper.client.internal.telemetry.Observer;
import io.lockkeeper.client.internal.telemetry.Telemetry;
import io.lockkeeper.client.internal.transport.BearerToken;
import io.lockkeeper.client.internal.transport.Endpoint;
import io.lockkeeper.client.internal.transport.Target;
import io.lockkeeper.client.internal.transport.Transport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Builds a {@link LockkeeperClient}. The defaults suit most programs. */
public final class LockkeeperClientBuilder {

  private final List<Target> servers;
  private Transport transport = Transport.plaintext();
  private Optional<BearerToken> bearerToken = Optional.empty();
  private Optional<Function<String, ManagedChannel>> channels = Optional.empty();
  private Optional<Target.Resolver> resolver = Optional.of(Target.Resolver.SYSTEM);
  private Optional<Duration> ttl = Optional.empty();
  private String holder = "";
  private Duration requestTimeout = Duration.ofSeconds(15);
  private Optional<Duration> expiryWarning = Optional.empty();
  private Optional<Executor> callbacks = Optional.empty();
  private final List<Observer> observers = new ArrayList<>();
  private Optional<LongSupplier> clock = Optional.empty();
  private boolean failFast;

  LockkeeperClientBuilder(String servers) {
    this.servers = Target.parseList(servers);
  }

  /** Connects without encryption. The default. */
  public LockkeeperClientBuilder plaintext() {
    transport = Transport.plaintext();
    return this;
  }

  /** Connects with TLS and trusts the authorities that the JVM trusts. */
  public LockkeeperClientBuilder tls() {
    transport = Transport.tls(Optional.empty(), Optional.empty());
    return this;
  }

  /**
   * Connects with TLS and trusts the authorities in a PEM file.
   *
   * @throws IllegalArgumentException if the file cannot be read
   */
  public LockkeeperClientBuilder tls(Path trustedCertificates) {
    transport = Transport.tls(Optional.of(trustedCertificates), Optional.empty());
    return this;
  }

  /**
   * Connects with mutual TLS: trusts the authorities in a PEM file and shows a certificate. The
   * files are read again for each connection, so they may be renewed.
   *
   * @param certificateChain PEM
   * @param privateKey PEM, PKCS #8, not encrypted
   * @throws IllegalArgumentException if a file cannot be read
   */
  public LockkeeperClientBuilder mutualTls(
      Path trustedCertificates, Path certificateChain, Path privateKey) {
    transport =
        Transport.tls(
            Optional.of(trustedCertificates),
            Optional.of(new Transport.Identity(certificateChain, privateKey)));
    return this;
  }

  /** Connects with credentials made with gRPC's API. */
  public LockkeeperClientBuilder credentials(ChannelCredentials credentials) {
    return credentials(() -> credentials);
  }

  /**
   * Connects with credentials made with gRPC's API, anew for each connection: for certificates that
   * are renewed while the client lives.
   *
   * @param credentials is asked on any thread and must not wait; what it throws fails the attempt
   *     to connect
   */
  public LockkeeperClientBuilder credentials(Supplier<ChannelCredentials> credentials) {
    transport = new Transport(credentials);
    return this;
  }

  /**
   * Sends a token with every call, by which the server knows who the client is: {@code
   * authorization: Bearer ...}. Over TLS only, or in plaintext to a server on this machine: with
   * anything else, calls fail with UNAUTHENTICATED and the token is not sent.
   *
   * @param token returns the token of the moment: one that has been renewed goes with the next
   *     call. It is asked at each call, on any thread, and must not wait; what it throws fails the
   *     call as a server that cannot be reached does, and the call is tried again
   */
  public LockkeeperClientBuilder bearerToken(Supplier<String> token) {
    bearerToken = Optional.of(new BearerToken(token));
    return this;
  }

  /**
   * Opens connections in another way: the factory returns a new channel to an address as it was
   * written. No name is looked up then. Credentials are the factory's then, {@link #bearerToken}
   * too.
   */
  public LockkeeperClientBuilder channels(Function<String, ManagedChannel> factory) {
    channels = Optional.of(factory);
    resolver = Optional.empty();
    return this;
  }

  /** Looks up names in another way, also for {@link #channels}. */
  LockkeeperClientBuilder resolver(Target.Resolver lookup) {
    resolver = Optional.of(lookup);
    return this;
  }

  /**
   * How long the lease lives without a keep-alive, 2 s to 1 hour. Default: the server's, 15 s. With
   * a shorter one, others sooner get the locks of a client that has died; with a longer one, a
   * longer interruption costs no lock.
   *
   * @throws IllegalArgumentException if it is out of range
   */
  public LockkeeperClientBuilder ttl(Duration timeToLive) {
    if (timeToLive.compareTo(Duration.ofSeconds(2)) < 0
        || timeToLive.compareTo(Duration.ofHours(1)) > 0) {
      throw new IllegalArgumentException("a lease lives 2 s to 1 hour, not " + timeToLive);
    }
    ttl = Optional.of(timeToLive);
    return this;
  }

  /** Who the client is, human-readable: up to 256 bytes. Default: the server shows its address. */
  public LockkeeperClientBuilder holder(String who) {
    holder = who;
    return this;
  }

  /**
   * How long a server may take to be reached and to answer before a request fails, above zero.
   * Default: 15 s. A request that waits in a queue is not limited by it.
   *
   * @throws IllegalArgumentException if it is not above zero
   */
  public LockkeeperClientBuilder requestTimeout(Duration limit) {
    if (limit.isNegative() || limit.isZero()) {
      throw new IllegalArgumentException("a request timeout must be above zero, not " + limit);
    }
    requestTimeout = limit;
    return this;
  }

  /**
   * Fails requests for locks at once, rather than after {@link #requestTimeout}, while the client
   * has not reached any server yet and each of them was tried once, a silent one for its share of
   * four fifths of that timeout, or 3 s if that is more: with {@link RequestRefusedException} where
   * one has as many clients as it may, else with {@link ServerUnavailableException}. A server that
   * answers that it cannot serve now is tried again as ever, and so is every server once a first
   * one has served. For programs that somebody waits for. Default: not.
   */
  public LockkeeperClientBuilder failFast() {
    failFast = true;
    return this;
  }

  /**
   * How long before the deadline {@link LockListener#onAboutToExpire} comes. Default: a fifth of
   * the time to live. At most a third of it, or of what the server promised, if that is less.
   */
  public LockkeeperClientBuilder expiryWarning(Duration lead) {
    expiryWarning = Optional.of(lead);
    return this;
  }

  /**
   * Where listeners are called and futures complete: one at a time, in order. Default: a thread for
   * callbacks only, so that a callback that blocks delays nothing but other callbacks. The executor
   * is not shut down with the client.
   *
   * <p>{@code Runnable::run} is the fastest: a callback runs on the thread that has read the grant
   * from the connection, and its next requests are sent in one batch with others. No other thread
   * is woken. But <b>such callbacks must never block</b>: while one does, nothing is read and no
   * keep-alive is sent, for this client and all others of the process that share the thread, and
   * leases may end. {@link LockHandle#isValid} is right even then. Calls that wait must not be used
   * in them either.
   */
  public LockkeeperClientBuilder callbackExecutor(Executor executor) {
    callbacks = Optional.of(executor);
    return this;
  }

  /**
   * Measures or traces what becomes of requests, with {@link MicrometerObserver} or {@link
   * OpenTelemetryObserver}; several may be added. Default: neither.
   */
  public LockkeeperClientBuilder observer(ClientObserver observer) {
    observers.add(observer.observer());
    return this;
  }

  /**
   * The clock by which deadlines are counted: nanoseconds since any moment, from any thread, which
   * never go back and run at the rate of real time. Default: {@link System#nanoTime}.
   *
   * <p>For machines that are suspended, which may stop the default's: give one that goes on
   * meanwhile, such as {@code CLOCK_BOOTTIME} of Linux. Otherwise {@link LockHandle#isValid} may be
   * wrong after a suspension until a server has been heard. Any clock but the default is polled
   * every 10 ms while the client waits for something, which costs as many wake-ups, and timers are
   * late by as much; the deadlines themselves are not. Also for tests.
   */
  public LockkeeperClientBuilder clock(LongSupplier nanos) {
    clock = Optional.of(nanos);
    return this;
  }

  /**
   * Makes the client. Connects when it is first used.
   *
   * @throws IllegalArgumentException if there are both a token and a factory of channels: a channel
   *     brings its own credentials
   */
  public LockkeeperClient build() {
    return new LockkeeperClient(
        new Settings(
            servers,
            resolver,
            connector(),
            ttl,
            holder,
            requestTimeout,
            expiryWarning,
            callbacks,
            callerRuns(),
            new Telemetry(observers),
            clock,
            failFast));
  }

  /**
   * Callbacks on their own thread delay no caller. On the user's executor they may run on the loop:
   * then a call of the user's must not run them, nor a thread of the user's channel.
   */
  private CallerRuns callerRuns() {
    if (callbacks.isEmpty()) {
      return CallerRuns.ALWAYS;
    }
    return channels.isEmpty() ? CallerRuns.RECEIVERS : CallerRuns.NEVER;
  }

  /** Opens a channel to the first server. The caller shuts it down. */
  ManagedChannel connect() {
    return connector().apply(servers.get(0).asWritten());
  }

  private Function<Endpoint, ManagedChannel> connector() {
    if (bearerToken.isPresent() && channels.isPresent()) {
      throw new IllegalArgumentException(
          "bearerToken and channels do not go together: give the factory's channels the token");
    }
    Transport own = bearerToken.map(transport::with).orElse(transport);
    return channels
        .<Function<Endpoint, ManagedChannel>>map(
            factory -> server -> factory.apply(server.address()))
        .orElse(own::connect);
  }
}
