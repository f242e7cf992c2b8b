package io.lockkeeper.server.security;

import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.util.DefaultResourceRetriever;
import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of an identity provider, fetched from its URL in the background: every five minutes, and
 * earlier when a token names a key that is not known, but no two fetches begin within ten seconds.
 * While the provider is out of reach the last keys count, for a day; after that none do, since
 * nobody can tell any more which have been withdrawn.
 *
 * <p>Nimbus has sources that cache, but the caller that finds nothing in the cache fetches it
 * himself; ours are the threads of the network.
 *
 * <p>{@link #poll} is for a timer, every two seconds; everything else may be called on any thread.
 */
public final class RemoteKeys implements JwtKeys {

  static final Duration REFRESH = Duration.ofMinutes(5);
  static final Duration PAUSE = Duration.ofSeconds(10);
  static final Duration LONGEST_OUTAGE = Duration.ofDays(1);

  private static final Logger LOG = LoggerFactory.getLogger(RemoteKeys.class);
  private static final int TIMEOUT_MILLIS = 3_000;
  private static final int MAX_BYTES = 256 << 10;
  private static final JWKSet NONE = new JWKSet();

  private final Fetch fetch;
  private final Executor background;
  private final LongSupplier nanoClock;
  private final AtomicBoolean underWay = new AtomicBoolean();
  private volatile boolean wanted = true;
  private volatile Fetched last;
  private volatile @Nullable String error = "not fetched yet";
  private long attemptedAt;

  /** Gets the document. */
  @FunctionalInterface
  interface Fetch {
    String fetch() throws IOException;
  }

  /** What was fetched, and when. */
  private record Fetched(String text, JWKSet keys, long atNanos) {}

  /** Fetches from {@code url}, on {@code background}'s thread; nothing before the first poll. */
  public RemoteKeys(URL url, Executor background) {
    this(
        () ->
            new DefaultResourceRetriever(TIMEOUT_MILLIS, TIMEOUT_MILLIS, MAX_BYTES)
                .retrieveResource(url)
                .getContent(),
        background,
        System::nanoTime);
  }

  RemoteKeys(Fetch fetch, Executor background, LongSupplier nanoClock) {
    this.fetch = fetch;
    this.background = background;
    this.nanoClock = nanoClock;
    long now = nanoClock.getAsLong();
    this.attemptedAt = now - REFRESH.toNanos();
    this.last = new Fetched("", NONE, now);
  }

  @Override
  public JWKSet current() {
    Fetched fetched = last;
    boolean tooOld = nanoClock.getAsLong() - fetched.atNanos() > LONGEST_OUTAGE.toNanos();
    return tooOld ? NONE : fetched.keys();
  }

  @Override
  public void onUnknownKey() {
    wanted = true;
  }

  /** Returns why the last fetch failed, if it did. */
  public Optional<String> lastError() {
    return Optional.ofNullable(error);
  }

  /** Begins a fetch if it is time for one and none is under way. */
  public synchronized void poll() {
    long now = nanoClock.getAsLong();
    Duration pause = wanted || error != null ? PAUSE : REFRESH;
    if (now - attemptedAt < pause.toNanos() || !underWay.compareAndSet(false, true)) {
      return;
    }
    attemptedAt = now;
    wanted = false;
    background.execute(
        () -> {
          try {
            refresh();
          } finally {
            underWay.set(false);
          }
        });
  }

  private void refresh() {
    try {
      String text = fetch.fetch();
      // Tokens are remembered by the object of the keys: the same keys must stay the same object.
      JWKSet keys =
          text.equals(last.text())
              ? last.keys()
              : JwtKeys.parse(text.getBytes(StandardCharsets.UTF_8));
      last = new Fetched(text, keys, nanoClock.getAsLong());
      error = null;
    } catch (IOException | RuntimeException e) {
      String why =
          e instanceof IllegalArgumentException ? String.valueOf(e.getMessage()) : e.toString();
      if (!why.equals(error)) {
        LOG.atWarn()
            .addKeyValue("error", why)
            .log("the keys of JWTs cannot be fetched; the last ones count for a day");
      }
      error = why;
    }
  }
}
