package io.lockkeeper.server.app;

import io.lockkeeper.server.rpc.GrpcSettings;
import io.lockkeeper.server.rpc.call.AccessRules;
import io.lockkeeper.server.rpc.call.ConnectionIdentity;
import io.lockkeeper.server.rpc.call.SteadyTimer;
import io.lockkeeper.server.security.tls.TlsFiles;
import io.lockkeeper.server.security.tls.TlsPaths;
import io.lockkeeper.server.web.PagesSettings;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What keeps a server from those who may not use it: TLS, identities, the policy and the audit, as
 * the configuration says. All its files are looked at every two seconds, on a thread of its own: a
 * file system that hangs must hold up nothing else.
 */
final class Protection implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Protection.class);

  private final ServerConfig config;
  private final Optional<TlsFiles> tls;
  private final Security security;
  private final ScheduledExecutorService timer =
      new SteadyTimer(
          task -> {
            Thread thread = new Thread(task, "lockkeeper-security-files");
            thread.setDaemon(true);
            return thread;
          });

  private Protection(ServerConfig config, Optional<TlsFiles> tls, Security security) {
    this.config = config;
    this.tls = tls;
    this.security = security;
  }

  /**
   * Reads the files.
   *
   * @throws StartException if one of them cannot be used; the message says which
   */
  static Protection open(ServerConfig config) {
    Optional<TlsFiles> tls = config.tls().map(Protection::openTls);
    try {
      return new Protection(config, tls, Security.open(config.security()));
    } catch (ConfigException e) {
      throw new StartException(String.valueOf(e.getMessage()), e);
    }
  }

  private static TlsFiles openTls(TlsPaths paths) {
    try {
      return TlsFiles.open(paths, Clock.systemUTC());
    } catch (IOException e) {
      throw new StartException("TLS: " + e.getMessage(), e);
    }
  }

  /** Returns whether callers must say who they are. */
  private boolean isIdentifying() {
    return certifiesClients() || config.security().identifiesByToken();
  }

  private boolean certifiesClients() {
    return config.tls().flatMap(TlsPaths::clientCa).isPresent();
  }

  /** Says loudly what is left open. */
  void warnOfOpenDoors() {
    if (config.insecure()) {
      log.atWarn()
          .addKeyValue("listen", config.listen())
          .log(
              "INSECURE: whoever reaches this address can {}{}, because --insecure was given",
              tls.isPresent() ? "" : "listen in, ",
              isIdentifying() ? "pretend to be others" : "take, free and see every lock");
    }
    if (!config.insecure() && opensPages() && !config.http().isLoopback()) {
      log.atWarn()
          .addKeyValue("http", config.http())
          .log(
              "INSECURE: whoever reaches this address can see every lock, because --insecure was given");
    }
    if (isIdentifying() && config.tls().flatMap(TlsPaths::peerCa).isEmpty()) {
      log.atWarn()
          .log(
              "Without --peer-ca no caller is taken for another coordinator: requests that others hand on are refused here."
                  + " That does not matter where this is the only one");
    }
    if (isIdentifying() && config.security().policy().isEmpty()) {
      log.atWarn()
          .log("Without --policy everybody who is known may do everything, admin calls included");
    }
  }

  /** Returns how gRPC speaks TLS. */
  Optional<GrpcSettings.Tls> ofGrpc() {
    boolean required = certifiesClients() && !config.security().identifiesByToken();
    return tls.map(files -> new GrpcSettings.Tls(files, required));
  }

  /** Returns by what callers are let in. */
  AccessRules rules() {
    return new AccessRules(
        isIdentifying(), security.authenticator(), security.authority(), security.audit());
  }

  /** Returns whether everybody may see the pages that name locks. */
  boolean opensPages() {
    return !isIdentifying() && config.httpNamesLocks();
  }

  /** Returns where the pages that name locks are, and for whom. */
  Optional<PagesSettings> pages() {
    return config
        .pages()
        .map(
            address -> {
              TlsFiles files = tls.orElseThrow();
              return new PagesSettings(
                  address.host(),
                  address.port(),
                  files.keys(),
                  certifiesClients() ? Optional.of(files.callers()) : Optional.empty(),
                  chain -> new ConnectionIdentity(files).client(chain),
                  security.authenticator(),
                  security.audit());
            });
  }

  /** Begins to look at the files, and adds what there is to measure. */
  void start(MeterRegistry registry) {
    tls.ifPresent(
        files -> {
          measure(files, registry);
          var unused = Security.poll(files::poll, timer);
        });
    Gauge.builder("lockkeeper.security.problems", this, of -> of.problems().size())
        .description("Files of the security that are wrong, or keys that cannot be fetched")
        .register(registry);
    FunctionCounter.builder("lockkeeper.audit.dropped", security, Security::auditDropped)
        .description("Entries of the audit that were lost")
        .register(registry);
    security.start(timer);
  }

  /**
   * Reads all files at once, on this thread, which waits between looks; returns what is wrong with
   * them, of which the log has told.
   */
  List<String> readNow() {
    look();
    look();
    return problems();
  }

  /** A new content is taken when two looks in a row have found it. */
  private void look() {
    tls.ifPresent(TlsFiles::poll);
    security.look();
  }

  private List<String> problems() {
    List<String> problems = new ArrayList<>(security.problems());
    tls.flatMap(TlsFiles::lastError).ifPresent(error -> problems.add("TLS: " + error));
    return List.copyOf(problems);
  }

  private static void measure(TlsFiles files, MeterRegistry registry) {
    for (String file : files.secondsUntilExpiry().keySet()) {
      Gauge.builder(
              "lockkeeper.certificate.expiry",
              files,
              current -> current.secondsUntilExpiry().getOrDefault(file, 0L))
          .baseUnit("seconds")
          .tag("file", file)
          .description("Time until the first certificate of the file expires")
          .register(registry);
    }
  }

  /** Looks no more, and writes what the audit still has. */
  @Override
  public void close() {
    timer.shutdownNow();
    security.close();
  }
}
