package io.lockkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys that are fetched in the background. */
class RemoteKeysTest {

  private static final String ONE = keySet("one");
  private static final String TWO = keySet("two");

  private final Deque<Runnable> background = new ArrayDeque<>();
  private String document = ONE;
  private boolean reachable = true;
  private int fetches;
  private long now = -5_000_000_000L;

  private final RemoteKeys keys =
      new RemoteKeys(
          () -> {
            fetches++;
            if (!reachable) {
              throw new IOException("out of reach");
            }
            return document;
          },
          background::add,
          () -> now);

  private static String keySet(String id) {
    try {
      return new JWKSet(new ECKeyGenerator(Curve.P_256).keyID(id).generate()).toString();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  private void pollAfter(Duration time) {
    now += time.toNanos();
    keys.poll();
    while (!background.isEmpty()) {
      background.remove().run();
    }
  }

  private boolean knows(String id) {
    return keys.current().getKeyByKeyId(id) != null;
  }

  @Test
  void keysAreFetchedAtTheFirstPollAndNotOnTheThreadThatPolls() {
    // When
    keys.poll();
    int onTheTimer = fetches;
    background.remove().run();

    // Then
    assertThat(onTheTimer).isZero();
    assertThat(knows("one")).isTrue();
    assertThat(keys.lastError()).isEmpty();
  }

  @Test
  void keysAreFetchedAgainEveryFiveMinutes() {
    // Given
    pollAfter(Duration.ZERO);
    document = TWO;

    // When
    pollAfter(RemoteKeys.REFRESH.minusSeconds(1));
    boolean before = knows("two");
    pollAfter(Duration.ofSeconds(1));

    // Then
    assertThat(before).isFalse();
    assertThat(knows("two")).isTrue();
    assertThat(knows("one")).isFalse();
  }

  @Test
  void unknownKeyHastensAFetchButNoTwoBeginWithinTenSeconds() {
    // Given
    pollAfter(Duration.ZERO);
    document = TWO;

    // When
    for (int i = 0; i < 9; i++) {
      keys.onUnknownKey();
      pollAfter(Duration.ofSeconds(1));
    }
    int within = fetches;
    pollAfter(Duration.ofSeconds(1));

    // Then
    assertThat(within).isEqualTo(1);
    assertThat(fetches).isEqualTo(2);
    assertThat(knows("two")).isTrue();
  }

  @Test
  void fetchThatIsUnderWayIsNotJoinedByAnother() {
    // Given
    keys.poll();

    // When
    now += Duration.ofHours(1).toNanos();
    keys.poll();

    // Then
    assertThat(background).hasSize(1);
  }

  @Test
  void sameDocumentStaysTheSameObject() {
    // Given
    pollAfter(Duration.ZERO);
    JWKSet before = keys.current();

    // When
    pollAfter(RemoteKeys.REFRESH);

    // Then
    assertThat(fetches).isEqualTo(2);
    assertThat(keys.current()).isSameAs(before);
  }

  @Test
  void lastKeysCountForADayWhileTheProviderIsOutOfReach() {
    // Given
    pollAfter(Duration.ZERO);
    reachable = false;

    // When
    pollAfter(RemoteKeys.LONGEST_OUTAGE);
    boolean afterADay = knows("one");
    pollAfter(Duration.ofSeconds(10));
    boolean later = knows("one");
    reachable = true;
    pollAfter(Duration.ofSeconds(10));

    // Then
    assertThat(afterADay).isTrue();
    assertThat(later).isFalse();
    assertThat(knows("one")).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "<html>",
        "{}",
        "{\"keys\":[]}",
        "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AA\"}]}"
      })
  void wrongDocumentLeavesTheLastKeysInForce(String wrong) {
    // Given
    pollAfter(Duration.ZERO);
    document = wrong;

    // When
    pollAfter(RemoteKeys.REFRESH);

    // Then
    assertThat(knows("one")).isTrue();
    assertThat(keys.lastError()).isPresent();
  }

  @Test
  void keysOfARealUrlAreFetchedUpToASize() throws IOException {
    // Given
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    byte[] good = ONE.getBytes(StandardCharsets.UTF_8);
    server.createContext(
        "/good",
        exchange -> {
          exchange.sendResponseHeaders(200, good.length);
          exchange.getResponseBody().write(good);
          exchange.close();
        });
    server.createContext(
        "/endless",
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          byte[] spaces = " ".repeat(64 << 10).getBytes(StandardCharsets.UTF_8);
          for (int i = 0; i < 8; i++) {
            exchange.getResponseBody().write(spaces);
          }
          exchange.close();
        });
    server.start();
    String base = "http://127.0.0.1:" + server.getAddress().getPort();

    // When
    RemoteKeys fetched = new RemoteKeys(url(base + "/good"), Runnable::run);
    fetched.poll();
    RemoteKeys endless = new RemoteKeys(url(base + "/endless"), Runnable::run);
    endless.poll();
    RemoteKeys missing = new RemoteKeys(url(base + "/missing"), Runnable::run);
    missing.poll();
    server.stop(0);

    // Then
    assertThat(fetched.current().getKeyByKeyId("one")).isNotNull();
    assertThat(endless.lastError()).isPresent();
    assertThat(missing.lastError()).isPresent();
  }

  private static URL url(String text) throws IOException {
    return URI.create(text).toURL();
  }

  @Test
  void setOfMoreKeysThanATokenShouldBeTriedWithIsRefused() {
    // Given
    String key = ONE.substring(ONE.indexOf('[') + 1, ONE.lastIndexOf(']'));
    String many = "{\"keys\":[" + (key + ",").repeat(JwtKeys.MAX_KEYS) + key + "]}";

    // When // Then
    assertThatThrownBy(() -> JwtKeys.parse(many.getBytes(StandardCharsets.UTF_8)))
        .hasMessageContaining("more than 100 keys");
  }
}
