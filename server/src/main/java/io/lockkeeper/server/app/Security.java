package io.lockkeeper.server.app;

import com.nimbusds.jose.jwk.JWKSet;
import io.lockkeeper.server.security.Audit;
import io.lockkeeper.server.security.AuditLog;
import io.lockkeeper.server.security.Authenticator;
import io.lockkeeper.server.security.Authority;
import io.lockkeeper.server.security.BearerTokens;
import io.lockkeeper.server.security.JwtKeys;
import io.lockkeeper.server.security.JwtTokens;
import io.lockkeeper.server.security.LivePolicy;
import io.lockkeeper.server.security.Policy;
import io.lockkeeper.server.security.ReloadedFile;
import io.lockkeeper.server.security.RemoteKeys;
import io.lockkeeper.server.security.StaticTokens;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What decides who calls and what he may do, and records it, as the settings say. Files are read
 * when it is opened, and again after {@link #start}.
 */
public final class Security implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Security.class);
  private static final int POLL_SECONDS = 2;

  private final List<Runnable> polls = new ArrayList<>();
  private final List<Supplier<Optional<String>>> problems = new ArrayList<>();
  private final List<AutoCloseable> owned = new ArrayList<>();
  private final Authenticator authenticator;
  private final Authority authority;
  private final Audit audit;
  private final List<Future<?>> polling = new ArrayList<>();

  private Security(SecurityConfig config) {
    authority =
        config
            .policy()
            .<Authority>map(file -> new LivePolicy(reloaded(Setting.POLICY, file, Policy::parse)))
            .orElse(Authority.OPEN);
    Optional<ReloadedFile<StaticTokens>> tokens =
        config.tokens().map(file -> reloaded(Setting.TOKENS, file, StaticTokens::parse));
    Optional<JwtTokens> jwts =
        config.jwt().map(jwt -> new JwtTokens(jwt.terms(), keys(jwt.keys()), Clock.systemUTC()));
    authenticator =
        config.identifiesByToken() ? new BearerTokens(jwts, tokens) : Authenticator.NONE;
    audit = config.audit().map(this::openAudit).orElse(Audit.NONE);
  }

  /**
   * Reads the files and opens the audit.
   *
   * @throws ConfigException if one of them cannot be used; the message names the setting
   */
  public static Security open(SecurityConfig config) {
    return new Security(config);
  }

  private <T> ReloadedFile<T> reloaded(Setting setting, Path path, ReloadedFile.Parser<T> parser) {
    ReloadedFile<T> file;
    try {
      file = new ReloadedFile<>(path, parser);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(setting.flag() + ": " + e.getMessage());
    }
    polls.add(file::poll);
    problems.add(() -> file.lastError().map(error -> setting.key() + ": " + error));
    return file;
  }

  private JwtKeys keys(SecurityConfig.Keys keys) {
    if (keys.url().isEmpty()) {
      ReloadedFile<JWKSet> file =
          reloaded(Setting.JWT_JWKS, keys.file().orElseThrow(), JwtKeys::parse);
      return JwtKeys.of(file);
    }
    URL url = keys.url().get();
    if (url.getProtocol().equals("http")) {
      LOG.atWarn()
          .addKeyValue("url", url)
          .log("keys that are fetched without TLS can be replaced on their way");
    }
    ExecutorService background =
        Executors.newSingleThreadExecutor(
            task -> {
              Thread thread = new Thread(task, "jwt-keys");
              thread.setDaemon(true);
              return thread;
            });
    owned.add(background::shutdownNow);
    RemoteKeys remote = new RemoteKeys(url, background);
    polls.add(remote::poll);
    problems.add(() -> remote.lastError().map(error -> Setting.JWT_JWKS.key() + ": " + error));
    return remote;
  }

  private Audit openAudit(AuditLog.Target target) {
    try {
      AuditLog log = AuditLog.to(target);
      owned.add(log);
      return log;
    } catch (IOException e) {
      throw new ConfigException(Setting.AUDIT.flag() + ": cannot be opened: " + e);
    }
  }

  /** Returns who finds out whose token it is. */
  public Authenticator authenticator() {
    return authenticator;
  }

  /** Returns who decides who may do what. */
  public Authority authority() {
    return authority;
  }

  /** Returns who records it. */
  public Audit audit() {
    return audit;
  }

  /**
   * Returns what is not as it should be: a file that is not taken because it is wrong now, keys
   * that cannot be fetched. What was read before stays in force meanwhile.
   */
  public List<String> problems() {
    return problems.stream().flatMap(problem -> problem.get().stream()).toList();
  }

  /** Returns how many entries of the audit were lost since the start. */
  public long auditDropped() {
    return audit instanceof AuditLog log ? log.dropped() : 0;
  }

  /** Looks for changes from now on, on {@code timer}'s threads. */
  public void start(ScheduledExecutorService timer) {
    polls.forEach(look -> polling.add(poll(look, timer)));
  }

  /** Looks once whether files have changed, on this thread, which may have to wait. */
  void look() {
    polls.forEach(Runnable::run);
  }

  /** Looks at something every two seconds. */
  static Future<?> poll(Runnable look, ScheduledExecutorService timer) {
    return timer.scheduleWithFixedDelay(look, 0, POLL_SECONDS, TimeUnit.SECONDS);
  }

  /** Stops looking for changes, and writes what the audit still has, within some seconds. */
  @Override
  public void close() {
    polling.forEach(future -> future.cancel(false));
    for (AutoCloseable each : owned) {
      try {
        each.close();
      } catch (Exception e) {
        LOG.atWarn().setCause(e).log("something of the security could not be closed");
      }
    }
  }
}
