package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.testing.Ports;
import io.lockkeeper.server.testing.TlsFiles;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import io.lockkeeper.server.zookeeper.record.ZooKeeperAccess;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import io.lockkeeper.server.zookeeper.session.AdoptionFixture;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The store talks TLS to ZooKeeper, and only to one that it has reason to believe. */
final class TlsIT {

  private static final SessionKey ONE = new SessionKey(1);

  @TempDir private Path files;
  private final RecordedEvents events = new RecordedEvents();
  private final int port = Ports.free();
  private Optional<Ensemble> running = Optional.empty();

  @AfterEach
  void stop() throws Exception {
    if (running.isPresent()) {
      running.get().close();
    }
  }

  @BeforeEach
  void makeCertificates() {
    TlsFiles.of(files, "server", "dns:localhost");
    TlsFiles.of(files, "stranger", "dns:localhost");
    TlsFiles.of(files, "us", "dns:coordinator");
  }

  private Path file(String name) {
    return files.resolve(name);
  }

  private Ensemble start(String certificate, String clientAuth) {
    Ensemble ensemble =
        Ensemble.own(
            builder ->
                secure(builder)
                    .configuration("ssl.keyStore.location", file(certificate).toString())
                    .configuration("ssl.clientAuth", clientAuth));
    running = Optional.of(ensemble);
    return ensemble;
  }

  private ZooKeeperProcess.Builder secure(ZooKeeperProcess.Builder builder) {
    return builder
        .configuration("secureClientPort", Integer.toString(port))
        .configuration("serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory")
        .configuration("ssl.keyStore.type", "PEM")
        .configuration("ssl.trustStore.location", file("us.pem").toString())
        .configuration("ssl.trustStore.type", "PEM");
  }

  private ZooKeeperSettings settings(String host, Path trusted) {
    return Ensemble.standalone(host + ":" + port, "c1")
        .withAccess(
            new ZooKeeperAccess(
                Optional.empty(),
                false,
                Optional.of(new ZooKeeperAccess.Tls(Optional.of(file("us-both.pem")), trusted))));
  }

  @Test
  void everythingGoesOverTlsWithOurCertificateWhereZooKeeperAsksForOne() throws Exception {
    // Given
    Ensemble ensemble = start("server-both.pem", "need");
    // When
    ZooKeeperLockStore store = ensemble.store(settings("localhost", file("server.pem")), events);
    events.awaitCurrent();
    Asked.open(store, events, 1);
    AdoptionFixture.hold(store, events, ONE, "secured");
    // Then
    assertThat(Ensemble.truth(ensemble.client())).containsOnlyKeys("secured");
    assertThat(ensemble.server().ask("cons")).doesNotContain("refused");
  }

  @Test
  void serverWithAnotherCertificateOrForAnotherHostIsNotTalkedToAndFilesAreReadAtEachConnection()
      throws Exception {
    // Given
    Ensemble ensemble = start("server-both.pem", "none");
    Path trusted = Files.copy(file("stranger.pem"), file("trusted.pem"));
    RecordedEvents elsewhere = new RecordedEvents();
    ensemble.store(settings("127.0.0.1", file("server.pem")), elsewhere);
    ensemble.store(settings("localhost", trusted), events);
    var client = ensemble.client();
    // When
    io.lockkeeper.server.testing.ZooKeeperProcess server = ensemble.server();
    org.awaitility.Awaitility.await()
        .until(() -> Files.readString(server.log()).split("handshake", -1).length > 6);
    boolean before = client.exists("/lk", false) != null;
    Files.copy(file("server.pem"), trusted, StandardCopyOption.REPLACE_EXISTING);
    // Then
    assertThat(before).isFalse();
    events.awaitCurrent();
    assertThat(elsewhere.isCurrent()).isFalse();
  }
}
