package io.lockkeeper.bench.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.lockkeeper.howto.MovingLock;
import io.lockkeeper.howto.Rollout;
import io.lockkeeper.howto.Rollout.Version;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The move of {@code docs/migrate/from-etcd.md}, from a real etcd; skipped where there is none. A
 * lock of the JDK stands for the one that is moved to: jetcd and Lockkeeper's client want different
 * versions of gRPC, and its half of the move is tested elsewhere.
 */
class FromEtcdIT {

  private static final String NAME = "orders/42";
  private static final int WORKERS = 2;

  /** Longer than the test, so that nobody needs to keep it alive. */
  private static final long TTL_SECONDS = 600;

  private final Lock next = new ReentrantLock();
  @TempDir private Path directory;
  private Process etcd;
  private List<Client> clients = List.of();

  @BeforeEach
  void startEtcd() throws IOException {
    Assumptions.assumeTrue(
        isInstalled("etcd"), "no etcd on the PATH; to get it: apt-get install etcd-server");
    int port = freePort();
    String client = "http://127.0.0.1:" + port;
    String peer = "http://127.0.0.1:" + freePort();
    etcd =
        new ProcessBuilder(
                "etcd",
                "--name=move",
                "--data-dir=" + directory.resolve("data"),
                "--listen-client-urls=" + client,
                "--advertise-client-urls=" + client,
                "--listen-peer-urls=" + peer,
                "--initial-advertise-peer-urls=" + peer,
                "--initial-cluster=move=" + peer)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("etcd.log").toFile())
            .start();
    Awaitility.await("etcd").ignoreExceptions().until(() -> answers(port));
    clients =
        IntStream.range(0, WORKERS)
            .mapToObj(worker -> Client.builder().endpoints(client).build())
            .toList();
  }

  @AfterEach
  void stopAll() {
    clients.forEach(Client::close);
    if (etcd != null) {
      etcd.destroyForcibly();
    }
  }

  private Lock etcdLock(int worker) {
    Client client = clients.get(worker);
    return new EtcdLock(client, NAME, client.getLeaseClient().grant(TTL_SECONDS).join().getID());
  }

  @Test
  void serviceMovesFromEtcdAndBackUnderLoadAndNoUpdateIsLost() {
    // Given
    Rollout rollout = new Rollout(WORKERS, worker -> Version.of(etcdLock(worker)));

    // When
    try (rollout) {
      rollout.deploy(worker -> Version.of(new MovingLock(etcdLock(worker), next)));
      rollout.deploy(worker -> Version.of(next));
      rollout.deploy(worker -> Version.of(new MovingLock(etcdLock(worker), next)));
      rollout.deploy(worker -> Version.of(etcdLock(worker)));
    }

    // Then
    assertThat(rollout.lost()).isZero();
  }

  private static boolean answers(int port) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    }
  }

  private static boolean isInstalled(String program) {
    return List.of(System.getenv("PATH").split(File.pathSeparator, -1)).stream()
        .anyMatch(directory -> new File(directory, program).canExecute());
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
