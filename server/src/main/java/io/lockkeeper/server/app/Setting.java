package io.lockkeeper.server.app;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Everything that can be set on a server. Each setting is a flag ({@code --max-waiters}), an
 * environment variable ({@code LOCKKEEPER_MAX_WAITERS}) and a key of the configuration file ({@code
 * max-waiters}); the first of these that is there wins.
 */
public enum Setting {
  /** The ensemble. */
  ZOOKEEPER(
      "zookeeper",
      "HOST:PORT,...",
      "localhost:2181",
      "The servers of the ZooKeeper ensemble. dev starts its own and does not take this."),
  /** Where everything of ours lives in ZooKeeper. */
  ROOT(
      "root",
      "PATH",
      "/lockkeeper",
      "The node in ZooKeeper under which all is kept, up to 128 characters."),
  /** Where the queues live. */
  LOCKS_PATH(
      "locks-path",
      "PATH",
      "",
      "The node under which the queues are kept; empty: locks under --root. Point it at the path that services with"
          + " Curator's locks use, to share their queues."),
  /** The gRPC address. */
  LISTEN(
      "listen",
      "HOST:PORT",
      "0.0.0.0:7420",
      "127.0.0.1:7420",
      "Where to serve gRPC; :PORT alone: at the default's host. Port 0: any free one."),
  /** The HTTP address. */
  HTTP(
      "http",
      "HOST:PORT",
      "0.0.0.0:7421",
      "127.0.0.1:7421",
      "Where to serve metrics and health over HTTP; :PORT alone: at the default's host. Port 0: any free one."),
  /** The address of the pages. */
  PAGES(
      "pages",
      "HOST:PORT",
      "",
      "Where to serve the web page, which names locks, over HTTPS to those who say who they are: by a certificate, or"
          + " by a token as the password. Empty: nowhere, unless clients need no identity, and --http is for this machine"
          + " only or --insecure is given; then it is on --http."),
  /** What peers are told. */
  ADVERTISE(
      "advertise",
      "HOST:PORT",
      "",
      "The gRPC address at which the other coordinators reach this one, and no other. Empty: --listen, with this"
          + " machine's name for a wildcard."),
  /** The directory of files. */
  DATA_DIR(
      "data-dir",
      "DIR",
      "",
      "data",
      "Where this coordinator keeps its home: who starts there next is its heir, and takes its locks over at once. One"
          + " process at a time; never copy it. dev keeps its ZooKeeper's data there too. Empty: no home."),
  /** Whether fencing tokens may fall below recorded ones. */
  ALLOW_TOKEN_RESET(
      "allow-token-reset",
      "true|false",
      "false",
      "Start on a ZooKeeper whose data is older than what --data-dir recorded, as after its data was lost or restored from"
          + " an old copy: locks are lost and fencing tokens repeat. Give it for one start only."),
  /** The embedded ZooKeeper's port. */
  ZOOKEEPER_PORT(
      "zookeeper-port",
      "PORT",
      "7422",
      "The port of the embedded ZooKeeper, on 127.0.0.1 only; dev only. 0: any free one."),
  /** Our certificate. */
  TLS_CERT(
      "tls-cert",
      "FILE",
      "",
      "The server's certificate chain (PEM). With --tls-key, gRPC is served over TLS."),
  /** Our private key. */
  TLS_KEY("tls-key", "FILE", "", "The private key of --tls-cert (PEM, PKCS#8)."),
  /** Who may call us. */
  TLS_CLIENT_CA(
      "tls-client-ca",
      "FILE",
      "",
      "The authorities (PEM) one of which must have signed a client's certificate: mutual TLS. Not those of --peer-ca."),
  /** Which coordinators we believe. */
  PEER_CA(
      "peer-ca",
      "FILE",
      "",
      "The authorities (PEM) one of which must have signed another coordinator's certificate, and that sign nothing else."
          + " Empty: this one calls those whom --tls-client-ca, or else --tls-cert's own chain or Java trusts, and where"
          + " clients must say who they are, nobody is taken for a coordinator."),
  /** Whether nothing needs to protect the locks. */
  INSECURE(
      "insecure",
      "true|false",
      "false",
      "Serve others than this machine although anybody who reaches --listen can then take, free and see every lock: without"
          + " TLS, or without a way to tell clients apart. In the latter case the web page is shown to whoever reaches"
          + " --http, too."),
  /** The timeout of the sessions that own entries. */
  LOCK_SESSION_TIMEOUT(
      "lock-session-timeout",
      "DURATION",
      "30s",
      "Timeout of the ZooKeeper sessions that own locks, 2s to 10m; must be above (zookeeper-sync-limit + 1) x"
          + " zookeeper-tick-time."),
  /** The timeout of the session that says that we live. */
  MEMBER_SESSION_TIMEOUT(
      "member-session-timeout",
      "DURATION",
      "6s",
      "Timeout of the ZooKeeper session that says that this coordinator lives, 1s to 5m; at most the lock sessions'."),
  /** The ensemble's tickTime. */
  ZOOKEEPER_TICK_TIME(
      "zookeeper-tick-time",
      "DURATION",
      "2s",
      "tickTime of the ensemble, as its zoo.cfg has it, 100ms to 60s."),
  /** The ensemble's syncLimit. */
  ZOOKEEPER_SYNC_LIMIT(
      "zookeeper-sync-limit",
      "COUNT",
      "5",
      "syncLimit of the ensemble, as its zoo.cfg has it, 1 to 1000."),
  /** Who we are to ZooKeeper. */
  ZOOKEEPER_CREDENTIALS(
      "zookeeper-credentials",
      "FILE",
      "",
      "A file with one line user:password, by which to authenticate at ZooKeeper (digest): all that is created there is"
          + " for that user alone. Read anew for each connection; nobody else should be able to read it."),
  /** Whether to talk TLS to ZooKeeper. */
  ZOOKEEPER_TLS(
      "zookeeper-tls",
      "true|false",
      "false",
      "Whether to talk TLS to ZooKeeper, at its secureClientPort; needs --zookeeper-tls-trust-store."),
  /** Our certificate for ZooKeeper. */
  ZOOKEEPER_TLS_KEY_STORE(
      "zookeeper-tls-key-store",
      "FILE",
      "",
      "The certificate chain and its private key (PEM, PKCS#8, in one file) to show to ZooKeeper; empty: none."),
  /** Which ZooKeeper to believe. */
  ZOOKEEPER_TLS_TRUST_STORE(
      "zookeeper-tls-trust-store",
      "FILE",
      "",
      "The authorities (PEM) one of which must have signed the certificates of ZooKeeper's servers, which must name"
          + " the hosts as --zookeeper does."),
  /** The TTL of a lease whose opener names none. */
  DEFAULT_LEASE_TTL(
      "default-lease-ttl",
      "DURATION",
      "15s",
      "TTL of a lease that is opened without one, 2s to 1h."),
  /** When clients should make a new connection. */
  MAX_CONNECTION_AGE(
      "max-connection-age",
      "DURATION",
      "1h",
      "After what time clients are asked to make a new connection, so that they spread over all coordinators; nothing is"
          + " lost by it. 1s to 7d, or 0s: never."),
  /** The cap on one queue. */
  MAX_WAITERS(
      "max-waiters",
      "COUNT",
      "10000",
      "Entries in the queue of one lock, 1 to 100000; more are refused."),
  /** The cap on leases. */
  MAX_LEASES(
      "max-leases",
      "COUNT",
      "100000",
      "Leases on this coordinator, streams without a lease included, 1 to 10000000; more are refused."),
  /** Who may do what. */
  POLICY(
      "policy",
      "FILE",
      "",
      "Who may do what, and how much of it (YAML), read again when it changes; empty: everybody may do everything."),
  /** The static tokens. */
  TOKENS(
      "tokens",
      "FILE",
      "",
      "The bearer tokens that are taken (YAML of names and digests, see lockkeeper token), read again when it changes."),
  /** Whose JWTs are taken. */
  JWT_ISSUER(
      "jwt-issuer",
      "TEXT",
      "",
      "The issuer (iss) whose JWTs are taken as bearer tokens; with --jwt-audience and --jwt-jwks."),
  /** For whom JWTs must be. */
  JWT_AUDIENCE("jwt-audience", "TEXT", "", "What a JWT must have as its audience (aud)."),
  /** The keys of JWTs. */
  JWT_JWKS(
      "jwt-jwks",
      "FILE|URL",
      "",
      "The issuer's public keys, a JSON Web Key Set: a file, read again when it changes, or an https or http URL, fetched"
          + " every 5 minutes."),
  /** How far clocks may be apart. */
  JWT_CLOCK_SKEW(
      "jwt-clock-skew",
      "DURATION",
      "30s",
      "How far the clock of the issuer of JWTs may be from ours, 0s to 5m."),
  /** Where the audit goes. */
  AUDIT(
      "audit",
      "FILE",
      "",
      "Where to write who did what, and what was denied, as lines of JSON; -: standard output; empty: nowhere."),
  /** When the audit's file is renamed. */
  AUDIT_MAX_SIZE(
      "audit-max-size",
      "SIZE",
      "100MB",
      "How large the audit's file gets before it is renamed, 1MB to 10GB."),
  /** How many files of the audit are kept. */
  AUDIT_KEEP("audit-keep", "COUNT", "10", "Renamed files of the audit that are kept, 0 to 1000."),
  /** Where traces go. */
  TRACES(
      "traces",
      "URL",
      "",
      "Where to send a span of each acquisition: an OTLP endpoint over http or https, such as http://localhost:4318;"
          + " empty: nowhere."),
  /** How much is logged. */
  LOG_LEVEL(
      "log-level",
      "LEVEL,...",
      "info",
      "What to log: error, warn, info, debug or trace. More for some loggers behind it:"
          + " info,io.lockkeeper.server.zookeeper=debug. Read again from the file on the signal HUP."),
  /** How a line of the log is written. */
  LOG_FORMAT(
      "log-format",
      "text|json",
      "text",
      "How to write a line of the log: text, human-readable; or json, an object a line.");

  private final String key;
  private final String placeholder;
  private final String serveDefault;
  private final String devDefault;
  private final String description;

  Setting(String key, String placeholder, String defaultValue, String description) {
    this(key, placeholder, defaultValue, defaultValue, description);
  }

  Setting(
      String key, String placeholder, String serveDefault, String devDefault, String description) {
    this.key = key;
    this.placeholder = placeholder;
    this.serveDefault = serveDefault;
    this.devDefault = devDefault;
    this.description = description;
  }

  /** Returns the key in the configuration file. */
  public String key() {
    return key;
  }

  /** Returns the command-line flag. */
  public String flag() {
    return "--" + key;
  }

  /** Returns the environment variable. */
  public String variable() {
    return "LOCKKEEPER_" + key.replace('-', '_').toUpperCase(Locale.ROOT);
  }

  /** Returns what stands for the value in help, such as {@code HOST:PORT}. */
  public String placeholder() {
    return placeholder;
  }

  /** Returns the value that counts where none is given; empty where there is none. */
  public String defaultFor(Profile profile) {
    return profile == Profile.DEV ? devDefault : serveDefault;
  }

  /** Returns what the setting does, with its range, in one or two sentences. */
  public String description() {
    return description;
  }

  /** Returns whether it is true or false: on the command line the flag alone means true. */
  public boolean isSwitch() {
    return this == INSECURE || this == ALLOW_TOKEN_RESET;
  }

  /** Returns whether the setting means anything under {@code profile}. */
  public boolean appliesTo(Profile profile) {
    return switch (this) {
      case ZOOKEEPER,
          ZOOKEEPER_CREDENTIALS,
          ZOOKEEPER_TLS,
          ZOOKEEPER_TLS_KEY_STORE,
          ZOOKEEPER_TLS_TRUST_STORE ->
          profile == Profile.SERVE;
      case ZOOKEEPER_PORT -> profile == Profile.DEV;
      default -> true;
    };
  }

  /** Returns the keys of all settings. */
  static List<String> keys() {
    return Arrays.stream(values()).map(Setting::key).toList();
  }

  /** Returns the setting of that key. */
  public static Optional<Setting> ofKey(String key) {
    return Arrays.stream(values()).filter(setting -> setting.key.equals(key)).findFirst();
  }
}
