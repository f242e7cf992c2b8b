package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class EmbeddedZooKeeperTest {

  private static final Duration TICK = Duration.ofMillis(500);
  private static final Duration MAX_SESSION = Duration.ofSeconds(60);

  @TempDir private Path directory;

  @Test
  void dataSurvivesARestart() throws Exception {
    // Given
    try (EmbeddedZooKeeper first = start(0);
        ZooKeeper client = connect(first)) {
      client.create("/kept", data("value"), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
    }
    // When
    try (EmbeddedZooKeeper second = start(0);
        ZooKeeper client = connect(second)) {
      // Then
      assertThat(client.getData("/kept", false, null)).isEqualTo(data("value"));
    }
  }

  @Test
  void sessionTimeoutOfALockSessionIsGrantedWhateverTheTick() throws Exception {
    // Given
    try (EmbeddedZooKeeper server = start(0);
        // When
        ZooKeeper client = connect(server)) {
      // Then
      assertThat(client.getSessionTimeout()).isEqualTo(30_000);
    }
  }

  @Test
  void onlyThisMachineIsServed() {
    // When
    try (EmbeddedZooKeeper server = start(0)) {
      // Then
      assertThat(server.connectString()).matches("127\\.0\\.0\\.1:[1-9]\\d*");
    }
  }

  @Test
  void nothingIsLeftBehindBesidesTheData() throws IOException {
    // When
    start(0).close();
    // Then
    try (var files = Files.list(directory.resolve("zookeeper"))) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("data", "lock");
    }
  }

  @Test
  void portInUseIsNamed() throws IOException {
    // Given
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      // When // Then
      assertThatExceptionOfType(StartException.class)
          .isThrownBy(() -> start(taken.getLocalPort()))
          .withMessageContaining("port " + taken.getLocalPort() + " of 127.0.0.1 is in use");
    }
    start(0).close(); // the directory was given back
  }

  @Test
  void damagedTransactionLogIsNamedAndEndsTheStart() throws Exception {
    // Given
    try (EmbeddedZooKeeper server = start(0);
        ZooKeeper client = connect(server)) {
      for (int i = 0; i < 20; i++) {
        client.create("/node-" + i, data("v"), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
      }
    }
    Path file = log();
    byte[] whole = Files.readAllBytes(file);
    flip(file, new String(whole, StandardCharsets.ISO_8859_1).indexOf("/node-10"));
    // When // Then
    assertThatExceptionOfType(StartException.class)
        .isThrownBy(() -> start(0))
        .withMessageContaining("CRC")
        .withMessageContaining("the damaged file is " + file);
    // And: the directory was given back
    Files.write(file, whole);
    try (EmbeddedZooKeeper server = start(0);
        ZooKeeper client = connect(server)) {
      assertThat(client.exists("/node-19", false)).isNotNull();
    }
  }

  @Test
  void damagedSnapshotWithoutAnotherOneEndsTheStart() throws Exception {
    // Given
    start(0).close();
    try (var files = Files.list(files())) {
      for (Path file : files.filter(f -> f.getFileName().toString().startsWith("snap")).toList()) {
        flip(file, Files.size(file) / 2);
      }
    }
    // When // Then
    assertThatExceptionOfType(StartException.class)
        .isThrownBy(() -> start(0))
        .withMessageContaining("snapshot")
        .withMessageContaining(files().toString());
  }

  @Test
  void startThatIsCancelledEnds() {
    // Given
    CompletableFuture<?> cancelled = CompletableFuture.completedFuture("TERM");
    // When // Then
    assertThatExceptionOfType(CancellationException.class)
        .isThrownBy(
            () -> EmbeddedZooKeeper.start(directory, 0, TICK, MAX_SESSION, cancelled, () -> {}));
    start(0).close(); // the directory was given back
  }

  private Path files() {
    return directory.resolve("zookeeper/data/version-2");
  }

  private Path log() throws IOException {
    try (var files = Files.list(files())) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("log."))
          .findFirst()
          .orElseThrow();
    }
  }

  private static void flip(Path file, long index) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[Math.toIntExact(index)] ^= 0x10;
    Files.write(file, bytes);
  }

  @Test
  void directoryInUseIsRefused() {
    // Given
    try (EmbeddedZooKeeper first = start(0)) {
      // When // Then
      assertThatExceptionOfType(StartException.class)
          .isThrownBy(() -> start(0))
          .withMessageContaining("another process uses the data directory");
      assertThat(first.connectString()).isNotEmpty();
    }
  }

  @Test
  void fileInPlaceOfTheDirectoryIsRefused() throws IOException {
    // Given
    Files.writeString(directory.resolve("zookeeper"), "in the way");
    // When // Then
    assertThatExceptionOfType(StartException.class)
        .isThrownBy(() -> start(0))
        .withMessageContaining("cannot write to the data directory");
  }

  private EmbeddedZooKeeper start(int port) {
    return EmbeddedZooKeeper.start(
        directory, port, TICK, MAX_SESSION, new CompletableFuture<>(), () -> {});
  }

  private static ZooKeeper connect(EmbeddedZooKeeper server) throws IOException {
    ZooKeeper client = new ZooKeeper(server.connectString(), 30_000, event -> {});
    await().until(() -> client.getState().isConnected());
    return client;
  }

  private static byte[] data(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
