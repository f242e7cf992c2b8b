package io.lockkeeper.integration.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Footprint;
import io.lockkeeper.integration.harness.RawHttp2;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.TlsContexts;
import io.lockkeeper.server.rpc.Certificates;
import io.lockkeeper.server.rpc.Certificates.Signed;
import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Attackers that begin handshakes of TLS, and do not mean to end them, or end them wrongly. */
final class TlsFloodIT {

  private static final int MOST_LOG = 20_000;
  private static final long HEAP_SLACK = 24L << 20;

  private static final Path files = Scratch.directory("tls-flood");
  private static final Certificates servers = made(() -> Certificates.authority(files, "servers"));
  private static final Certificates clients = made(() -> Certificates.authority(files, "clients"));
  private static final Certificates strangers =
      made(() -> Certificates.authority(files, "strangers"));

  @RegisterExtension
  private static final Target target = made(() -> Target.start("/tls-flood", servers, clients));

  private static <T> T made(Callable<T> making) {
    try {
      return making.call();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void handshakesThatDoNotGoOnAreEndedInTimeAndOthersServed() throws IOException {
    // When
    Floods.halfHellos(target.attack(), 2_000);
    target.awaitRefused("address-connections");
    assertThat(target.server().metric("lockkeeper_connections")).isLessThan(400);

    // Then
    target.assertServes();
    target.awaitGivenBack();
    assertThat(target.logged()).isLessThan(MOST_LOG);
  }

  @Test
  void handshakeThatComesByteByByteIsEndedInTime() throws IOException {
    // Given
    RawHttp2 slow = target.attack().silent();
    slow.send(Floods.halfHello());

    // When
    Awaitility.await("closed, though there is always more")
        .pollInterval(Duration.ofMillis(200))
        .until(() -> !Floods.sent(slow, new byte[1]));

    // Then
    target.assertServes();
  }

  @Test
  void handshakesWithoutEndFillNeitherMemoryNorLog() throws Exception {
    // Given: no certificate, and that of another authority
    List<SSLContext> wrong =
        List.of(
            TlsContexts.trusting(servers.authority),
            TlsContexts.showing(servers.authority, strangers.sign("stranger"), List.of()));
    for (SSLContext context : wrong) {
      Floods.handshakes(target.attack(), context, 50);
    }
    target.awaitGivenBack();
    Footprint before = Footprint.of(target.server());
    int logged = target.logged();

    // When
    for (int round = 0; round < 3; round++) {
      for (SSLContext context : wrong) {
        Floods.handshakes(target.attack(), context, 50);
        target.lockAndRelease();
      }
    }

    // Then
    target.assertServes();
    target.awaitGivenBack();
    Footprint after = Footprint.of(target.server());
    assertThat(after.heapBytes()).isLessThan(before.heapBytes() + HEAP_SLACK);
    assertThat(after.files()).isLessThan(before.files() + 10);
    assertThat(target.logged() - logged).isLessThan(MOST_LOG);
  }

  @Test
  void chainOfHugeSizeIsRefused() throws Exception {
    // Given: one that is good, and the rest of 400 KB
    Signed own = clients.sign("long");
    X509Certificate other = TlsContexts.certificate(clients.intermediate("other").authority);
    SSLContext huge =
        TlsContexts.showing(servers.authority, own, Collections.nCopies(1_000, other));
    Footprint before = Footprint.of(target.server());

    // When
    for (int i = 0; i < 100; i++) {
      assertThat(isLetIn(huge)).isFalse();
    }

    // Then
    assertThat(isLetIn(TlsContexts.showing(servers.authority, own, List.of()))).isTrue();
    target.assertServes();
    target.awaitGivenBack();
    assertThat(Footprint.of(target.server()).heapBytes())
        .isLessThan(before.heapBytes() + HEAP_SLACK);
    assertThat(target.logged()).isLessThan(MOST_LOG);
  }

  /** Returns whether the server begins to speak HTTP/2. */
  private static boolean isLetIn(SSLContext context) {
    try (SSLSocket socket = target.attack().handshake(context)) {
      return RawHttp2.begin(socket).await(RawHttp2.SETTINGS).isPresent();
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void connectionThatNegotiatesAgainIsClosed() throws Exception {
    // Given: the version of TLS that still has it
    SSLContext good = TlsContexts.showing(servers.authority, clients.sign("again"), List.of());
    SSLSocket socket = target.attack().handshake(good, "TLSv1.2");
    RawHttp2 connection = RawHttp2.begin(socket);
    assertThat(connection.await(RawHttp2.SETTINGS)).isPresent();

    // When: asked for here, done when something is read
    socket.startHandshake();

    // Then
    assertThat(connection.isClosedByServer()).isTrue();
  }
}
