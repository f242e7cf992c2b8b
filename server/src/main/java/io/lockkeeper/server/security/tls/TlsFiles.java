package io.lockkeeper.server.security.tls;

import io.lockkeeper.server.security.SpacedLook;
import java.io.IOException;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of TLS as they are now. When they are replaced, {@link #poll} finds it: connections
 * that are made from then on use the new ones, those that are open stay as they are. All files are
 * taken together, or none: files that cannot be used, or do not fit each other, change nothing. New
 * ones are taken when two polls in a row have found the same, with some time in between, so that a
 * file of authorities that is being written is never taken by half.
 *
 * <p>For any thread.
 */
public final class TlsFiles {

  private static final Logger LOG = LoggerFactory.getLogger(TlsFiles.class);
  private static final Duration BETWEEN_WARNINGS = Duration.ofDays(1);

  private final TlsPaths paths;
  private final Clock clock;
  private final SpacedLook spaced = new SpacedLook(this::look);
  private final X509ExtendedKeyManager keys = new CurrentKeys(this);
  private final X509ExtendedTrustManager callers;
  private final X509ExtendedTrustManager servers;
  private volatile LoadedFiles current;
  // Whoever has chosen a certificate just before it was replaced still asks for its key.
  private volatile LoadedFiles previous;
  private long generation = 1;
  private Instant warnAgainAt;
  private Found seen;
  private boolean told;
  private volatile Optional<String> error = Optional.empty();

  /** What a look has found: the files, or why they cannot be read. */
  private record Found(Optional<LoadedFiles.Texts> texts, String problem) {}

  private TlsFiles(TlsPaths paths, Clock clock) throws IOException {
    this.paths = paths;
    this.clock = clock;
    this.current = load(LoadedFiles.Texts.read(paths));
    this.previous = current;
    this.seen = new Found(Optional.of(current.texts()), "");
    this.warnAgainAt = clock.instant();
    this.callers = new CurrentTrust(() -> current.callers().map(Authorities::trust));
    this.servers = new CurrentTrust(() -> Optional.of(current.servers().trust()));
  }

  /**
   * Reads and checks all files, and warns of what will be in the way later.
   *
   * @param clock tells what has expired
   * @throws IOException if a file cannot be used; the message names it and says why
   */
  public static TlsFiles open(TlsPaths paths, Clock clock) throws IOException {
    TlsFiles files = new TlsFiles(paths, clock);
    files.warn();
    return files;
  }

  private LoadedFiles load(LoadedFiles.Texts texts) throws IOException {
    return LoadedFiles.of(texts, "certificate-" + generation, clock.instant());
  }

  /** Returns what shows this server's own certificate, to callers and to those that it calls. */
  public X509ExtendedKeyManager keys() {
    return keys;
  }

  /**
   * Returns what believes whoever calls: clients and other coordinators. Without authorities for
   * either it believes nobody.
   */
  public X509ExtendedTrustManager callers() {
    return callers;
  }

  /** Returns whether there are authorities by which a caller may be believed at all. */
  public boolean knowsCallers() {
    return current.callers().isPresent();
  }

  /**
   * Returns what believes other coordinators when they are called: by the authorities for peers,
   * else by those for clients, else by this server's own chain and Java's authorities. It checks
   * the host's name too.
   */
  public X509ExtendedTrustManager servers() {
    return servers;
  }

  /** Returns whether an authority for clients has signed what a caller has shown. */
  public boolean isClient(List<X509Certificate> chain) {
    return isSignedBy(current.clients(), chain);
  }

  /**
   * Returns whether a caller is another coordinator: an authority for peers has signed what it has
   * shown, and none for clients has. Without authorities for peers nobody is.
   */
  public boolean isPeer(List<X509Certificate> chain) {
    LoadedFiles now = current;
    return isSignedBy(now.peers(), chain) && !isSignedBy(now.clients(), chain);
  }

  private static boolean isSignedBy(
      Optional<Authorities> authorities, List<X509Certificate> chain) {
    return authorities.map(them -> them.refusal(chain).isEmpty()).orElse(false);
  }

  /**
   * Returns how many seconds each file's certificates have left; of several, the one that expires
   * first counts. By the key of the setting that names the file: {@code tls-cert}, {@code
   * tls-client-ca}, {@code peer-ca}. Below zero: it has expired.
   */
  public Map<String, Long> secondsUntilExpiry() {
    Instant now = clock.instant();
    Map<String, Long> seconds = new LinkedHashMap<>();
    current
        .firstToExpire()
        .forEach(
            (file, certificate) ->
                seconds.put(
                    file,
                    Duration.between(now, certificate.getNotAfter().toInstant()).toSeconds()));
    return seconds;
  }

  LoadedFiles current() {
    return current;
  }

  LoadedFiles previous() {
    return previous;
  }

  /** Returns why the files, as they are now, are not in use. */
  public Optional<String> lastError() {
    return error;
  }

  /**
   * Takes the files again if they have changed, and once a day warns of what expires soon. Reads
   * them all, some time after the last poll, whoever made that: not for a thread that must not
   * wait. Called every two seconds.
   */
  public void poll() {
    spaced.run();
  }

  /** Polls at once. */
  synchronized void look() {
    Found found = read();
    // While files are replaced one by one, they are not whole, or do not fit each other.
    if (found.equals(seen)) {
      found.texts().ifPresentOrElse(this::take, () -> refuse(found.problem()));
    } else {
      seen = found;
      told = false;
    }
    warn();
  }

  private Found read() {
    try {
      return new Found(Optional.of(LoadedFiles.Texts.read(paths)), "");
    } catch (IOException e) {
      return new Found(Optional.empty(), String.valueOf(e.getMessage()));
    }
  }

  /** Those that were refused are looked at again: a certificate may be valid by now. */
  private void take(LoadedFiles.Texts found) {
    if (found.equals(current.texts())) {
      error = Optional.empty();
      return;
    }
    generation++;
    try {
      LoadedFiles next = load(found);
      previous = current;
      current = next;
      error = Optional.empty();
      warnAgainAt = clock.instant();
      LOG.atInfo()
          .addKeyValue("certificate", Authorities.name(next.own().chain().get(0)))
          .addKeyValue("until", next.own().chain().get(0).getNotAfter().toInstant())
          .log("The files of TLS have changed and are used from now on");
    } catch (IOException | RuntimeException e) {
      refuse(String.valueOf(e.getMessage()));
    }
  }

  /** Says once for each content that it is no good. */
  private void refuse(String why) {
    error = Optional.of(why);
    if (!told) {
      told = true;
      LOG.atError().log("The new files of TLS cannot be used, the old ones stay: {}", why);
    }
  }

  private synchronized void warn() {
    Instant now = clock.instant();
    if (now.isBefore(warnAgainAt)) {
      return;
    }
    warnAgainAt = now.plus(BETWEEN_WARNINGS);
    current
        .firstToExpire()
        .forEach(
            (file, certificate) -> {
              if (LoadedFiles.expiresSoon(certificate, now)) {
                LOG.atWarn()
                    .addKeyValue("setting", file)
                    .addKeyValue("certificate", Authorities.name(certificate))
                    .addKeyValue("until", certificate.getNotAfter().toInstant())
                    .log("A certificate expires soon and should have been replaced by now");
              }
            });
    current
        .peers()
        .flatMap(peers -> peers.refusal(current.own().chain()))
        .ifPresent(
            why ->
                LOG.atWarn()
                    .log(
                        "--peer-ca does not trust this coordinator's own certificate: others with the same file refuse what"
                            + " it forwards to them ({})",
                        why));
  }
}
