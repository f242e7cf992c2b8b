package io.lockkeeper.server.app;

import io.lockkeeper.server.security.tls.TlsPaths;
import io.lockkeeper.server.zookeeper.record.ZooKeeperAccess;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * All that a server is told, checked. What each value means and its range stands at {@link
 * Setting}.
 *
 * @param zookeeper the ensemble and how it is used
 * @param listen where to serve gRPC
 * @param http where to serve HTTP
 * @param pages where to serve the pages that name locks, over HTTPS; empty: nowhere else
 * @param advertise where peers reach this coordinator; empty: the address of {@code listen}, or
 *     this machine's name
 * @param dataDir where the home is, and dev's ZooKeeper has its data; empty: no home
 * @param allowsTokenReset whether ZooKeeper's data may be older than what the data directory
 *     recorded
 * @param tls the files of TLS; empty: plaintext
 * @param insecure whether others than this machine are served without TLS, or without knowing who
 *     they are: only where that is asked for
 * @param httpNamesLocks whether HTTP may tell names of locks to whoever asks, if clients need not
 *     say who they are either: it is for this machine only, or more is asked for
 * @param limits defaults and caps
 * @param security who is known, what he may do, and the audit
 * @param traces where to send spans; empty: nowhere
 * @param logs what to log, and how
 * @param effective every setting as it was given, or its default
 */
public record ServerConfig(
    ZooKeeper zookeeper,
    HostPort listen,
    HostPort http,
    Optional<HostPort> pages,
    Optional<HostPort> advertise,
    Optional<Path> dataDir,
    boolean allowsTokenReset,
    Optional<TlsPaths> tls,
    boolean insecure,
    boolean httpNamesLocks,
    Limits limits,
    SecurityConfig security,
    Optional<URI> traces,
    LogSettings logs,
    List<EffectiveSetting> effective) {

  private static final String CERTIFICATES = "a file of certificates in PEM";

  /** Each of these tells the server who calls. */
  private static final List<Setting> IDENTIFYING =
      List.of(Setting.TLS_CLIENT_CA, Setting.TOKENS, Setting.JWT_JWKS);

  private static final int MAX_PATH_CHARS = 128;
  private static final Pattern ZNODE_PATH = Pattern.compile("(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+");

  /**
   * The ensemble and how it is used.
   *
   * @param connect the connect string, without a chroot
   * @param root the node of all that is ours
   * @param locksPath the node of the queues
   * @param lockSessionTimeout timeout of the sessions that own entries
   * @param memberSessionTimeout timeout of the session that says that we live
   * @param tickTime the ensemble's tickTime
   * @param syncLimit the ensemble's syncLimit
   * @param embeddedPort the port of the embedded server
   * @param access how we and ZooKeeper prove who we are
   */
  public record ZooKeeper(
      String connect,
      String root,
      String locksPath,
      Duration lockSessionTimeout,
      Duration memberSessionTimeout,
      Duration tickTime,
      int syncLimit,
      int embeddedPort,
      ZooKeeperAccess access) {}

  /**
   * Defaults and caps.
   *
   * @param defaultLeaseTtl TTL of a lease that is opened without one
   * @param maxWaiters entries in one lock's queue
   * @param maxLeases leases on this coordinator
   * @param maxConnectionAge when clients should make a new connection; empty: never
   */
  public record Limits(
      Duration defaultLeaseTtl,
      int maxWaiters,
      int maxLeases,
      Optional<Duration> maxConnectionAge) {}

  /**
   * Returns the configuration that the sources give: flags first, then environment variables, then
   * the file.
   *
   * @param flags what the command line gave, by {@link Setting#key}
   * @param environment the environment variables
   * @param configFile the file that the command line names; empty: the one that {@code
   *     LOCKKEEPER_CONFIG} names, if any
   * @throws ConfigException if a value is not what it must be
   */
  public static ServerConfig load(
      Profile profile,
      Map<String, String> flags,
      Map<String, String> environment,
      Optional<Path> configFile) {
    SettingValues values = new SettingValues(profile, flags, environment, configFile);
    ZooKeeper zookeeper = zookeeper(values);
    Optional<Path> dataDir = dataDir(profile, values.get(Setting.DATA_DIR));
    Optional<TlsPaths> tls = tls(values);
    Limits limits = limits(values);
    Optional<URI> traces = traces(values.get(Setting.TRACES));
    LogSettings logs = LogSettings.of(values);
    return new ServerConfig(
        zookeeper,
        values.get(Setting.LISTEN).address(),
        values.get(Setting.HTTP).address(),
        pages(values.get(Setting.PAGES), tls),
        advertise(values.get(Setting.ADVERTISE)),
        dataDir,
        values.get(Setting.ALLOW_TOKEN_RESET).isTrue(),
        tls,
        isInsecure(values),
        values.get(Setting.HTTP).address().isLoopback() || values.get(Setting.INSECURE).isTrue(),
        limits,
        SecurityConfig.of(values),
        traces,
        logs,
        values.effective());
  }

  /**
   * Returns the configuration with these settings, by {@link Setting#key}, and defaults for all
   * others.
   *
   * @throws ConfigException if a value is not what it must be
   */
  public static ServerConfig of(Profile profile, Map<String, String> settings) {
    return load(profile, settings, Map.of(), Optional.empty());
  }

  /** Returns this configuration with another ensemble. */
  public ServerConfig withZooKeeperConnect(String connect) {
    ZooKeeper other =
        new ZooKeeper(
            connect,
            zookeeper.root,
            zookeeper.locksPath,
            zookeeper.lockSessionTimeout,
            zookeeper.memberSessionTimeout,
            zookeeper.tickTime,
            zookeeper.syncLimit,
            zookeeper.embeddedPort,
            zookeeper.access);
    return new ServerConfig(
        other,
        listen,
        http,
        pages,
        advertise,
        dataDir,
        allowsTokenReset,
        tls,
        insecure,
        httpNamesLocks,
        limits,
        security,
        traces,
        logs,
        effective);
  }

  private static ZooKeeper zookeeper(SettingValues values) {
    SettingValue connect = values.get(Setting.ZOOKEEPER);
    SettingValue locksPath = values.get(Setting.LOCKS_PATH);
    SettingValue lockTimeout = values.get(Setting.LOCK_SESSION_TIMEOUT);
    SettingValue memberTimeout = values.get(Setting.MEMBER_SESSION_TIMEOUT);
    String root = znode(values.get(Setting.ROOT));
    Duration tick =
        values
            .get(Setting.ZOOKEEPER_TICK_TIME)
            .duration(Duration.ofMillis(100), Duration.ofMinutes(1));
    int syncLimit = values.get(Setting.ZOOKEEPER_SYNC_LIMIT).count(1, 1_000);
    Duration lockSession = lockTimeout.duration(Duration.ofSeconds(2), Duration.ofMinutes(10));
    Duration memberSession = memberTimeout.duration(Duration.ofSeconds(1), Duration.ofMinutes(5));
    Duration stall = tick.multipliedBy(syncLimit + 1L);
    if (lockSession.compareTo(stall) <= 0) {
      throw lockTimeout.error(
          lockTimeout.text()
              + " must be above "
              + Durations.format(stall)
              + " = (zookeeper-sync-limit + 1) x zookeeper-tick-time, or a stall of ZooKeeper's leader loses all locks");
    }
    if (memberSession.compareTo(lockSession) > 0) {
      throw memberTimeout.error(
          memberTimeout.text() + " is above lock-session-timeout " + lockTimeout.text());
    }
    return new ZooKeeper(
        connect(connect),
        root,
        locksPath.isEmpty() ? root + "/locks" : znode(locksPath),
        lockSession,
        memberSession,
        tick,
        syncLimit,
        values.get(Setting.ZOOKEEPER_PORT).count(0, 65_535),
        ZooKeeperFiles.access(values));
  }

  private static Optional<HostPort> advertise(SettingValue value) {
    if (value.isEmpty()) {
      return Optional.empty();
    }
    HostPort address = value.address();
    Optional<String> why =
        address.port() == 0
            ? Optional.of("others cannot connect to port 0")
            : address.whyNotReachable();
    if (why.isPresent()) {
      throw value.error(why.get());
    }
    return Optional.of(address);
  }

  private static Optional<HostPort> pages(SettingValue value, Optional<TlsPaths> tls) {
    if (value.isEmpty()) {
      return Optional.empty();
    }
    if (tls.isEmpty()) {
      throw value.error("pages are served over HTTPS, which needs --tls-cert and --tls-key");
    }
    return Optional.of(value.address());
  }

  private static Optional<Path> dataDir(Profile profile, SettingValue value) {
    if (!value.isEmpty()) {
      return Optional.of(value.path());
    }
    if (profile == Profile.DEV) {
      throw value.error("dev needs a directory for its ZooKeeper's data");
    }
    return Optional.empty();
  }

  private static String connect(SettingValue value) {
    if (value.text().indexOf('/') >= 0) {
      throw value.error(
          "\"" + value.text() + "\" has a path; say where in ZooKeeper with --root instead");
    }
    return String.join(
        ",", value.parsed(HostPort::parseList).stream().map(HostPort::toString).toList());
  }

  private static String znode(SettingValue value) {
    String path = value.text();
    if (!ZNODE_PATH.matcher(path).matches()) {
      throw value.error(
          "\""
              + path
              + "\" is not a path such as /lockkeeper: segments of letters, digits, '_', '-' and '.', each after a /");
    }
    if (path.length() > MAX_PATH_CHARS) {
      throw value.error("the path has more than " + MAX_PATH_CHARS + " characters");
    }
    if (path.equals("/zookeeper") || path.startsWith("/zookeeper/")) {
      throw value.error(path + " belongs to ZooKeeper itself; name a node of our own");
    }
    return path;
  }

  private static Optional<TlsPaths> tls(SettingValues values) {
    SettingValue certValue = values.get(Setting.TLS_CERT);
    SettingValue keyValue = values.get(Setting.TLS_KEY);
    SettingValue caValue = values.get(Setting.TLS_CLIENT_CA);
    Optional<Path> cert = certValue.pemFile("CERTIFICATE", CERTIFICATES);
    Optional<Path> key = keyValue.pemFile("PRIVATE KEY", "an unencrypted PKCS#8 key in PEM");
    Optional<Path> clientCa = caValue.pemFile("CERTIFICATE", CERTIFICATES);
    if (cert.isPresent() != key.isPresent()) {
      SettingValue given = cert.isPresent() ? certValue : keyValue;
      throw given.error("TLS needs both --tls-cert and --tls-key");
    }
    SettingValue peerValue = values.get(Setting.PEER_CA);
    Optional<Path> peerCa = peerValue.pemFile("CERTIFICATE", CERTIFICATES);
    if (peerCa.isPresent() && cert.isEmpty()) {
      throw peerValue.error("TLS among coordinators needs --tls-cert and --tls-key as well");
    }
    if (clientCa.isPresent() && cert.isEmpty()) {
      throw caValue.error("mutual TLS needs --tls-cert and --tls-key as well");
    }
    return cert.map(file -> new TlsPaths(file, key.orElseThrow(), clientCa, peerCa));
  }

  /**
   * Returns whether others than this machine are served who can be overheard or may be anybody.
   *
   * @throws ConfigException if so, and nobody has asked for it
   */
  private static boolean isInsecure(SettingValues values) {
    SettingValue listen = values.get(Setting.LISTEN);
    boolean isAllowed = values.get(Setting.INSECURE).isTrue();
    List<String> missing = new ArrayList<>();
    if (values.get(Setting.TLS_CERT).isEmpty()) {
      missing.add(Setting.TLS_CERT.flag() + " and " + Setting.TLS_KEY.flag());
    }
    if (IDENTIFYING.stream().allMatch(setting -> values.get(setting).isEmpty())) {
      missing.add(String.join(" or ", IDENTIFYING.stream().map(Setting::flag).toList()));
    }
    if (missing.isEmpty() || listen.address().isLoopback()) {
      return false;
    }
    if (!isAllowed) {
      throw listen.error(
          listen.text()
              + " is not for this machine only, and whoever reaches it could take, free and see every lock: give "
              + String.join(", and ", missing)
              + "; or listen on 127.0.0.1; or give "
              + Setting.INSECURE.flag()
              + " if something else keeps everybody else away");
    }
    return true;
  }

  private static Limits limits(SettingValues values) {
    return new Limits(
        values.get(Setting.DEFAULT_LEASE_TTL).duration(Duration.ofSeconds(2), Duration.ofHours(1)),
        values.get(Setting.MAX_WAITERS).count(1, 100_000),
        values.get(Setting.MAX_LEASES).count(1, 10_000_000),
        maxConnectionAge(values.get(Setting.MAX_CONNECTION_AGE)));
  }

  private static Optional<Duration> maxConnectionAge(SettingValue value) {
    boolean never = value.duration(Duration.ZERO, Duration.ofDays(7)).isZero();
    return never
        ? Optional.empty()
        : Optional.of(value.duration(Duration.ofSeconds(1), Duration.ofDays(7)));
  }

  private static Optional<URI> traces(SettingValue value) {
    if (value.isEmpty()) {
      return Optional.empty();
    }
    URI uri = value.parsed(URI::create);
    String scheme = String.valueOf(uri.getScheme());
    if (!Set.of("http", "https").contains(scheme) || uri.getHost() == null) {
      throw value.error("\"" + value.text() + "\" is not a URL such as http://localhost:4318");
    }
    // The value is logged, and nothing that is may be a secret.
    if (uri.getRawUserInfo() != null || uri.getRawQuery() != null || uri.getRawFragment() != null) {
      throw value.error("the URL may have no user, query or fragment");
    }
    return Optional.of(uri);
  }
}
