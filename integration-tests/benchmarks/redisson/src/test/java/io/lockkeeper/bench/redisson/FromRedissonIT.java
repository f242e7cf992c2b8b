package io.lockkeeper.bench.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.howto.MovingLock;
import io.lockkeeper.howto.Rollout;
import io.lockkeeper.howto.Rollout.Version;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The move of {@code docs/migrate/from-redisson.md}; skipped where there is no redis-server. */
class FromRedissonIT {

  private static final String NAME = "orders/42";
  private static final int WORKERS = 2;

  @TempDir private Path directory;
  private Process redis;
  private List<RedissonClient> redissons = List.of();
  private List<LockkeeperClient> lockkeepers = List.of();
  private final InMemoryLockkeeper server = InMemoryLockkeeper.start();

  @BeforeEach
  void startRedis() throws IOException {
    Assumptions.assumeTrue(
        isInstalled("redis-server"),
        "no redis-server on the PATH; to get it: apt-get install redis-server");
    int port = freePort();
    redis =
        new ProcessBuilder("redis-server", "--port", "" + port, "--bind", "127.0.0.1")
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("redis.log").toFile())
            .start();
    Awaitility.await("redis").ignoreExceptions().until(() -> answers(port));
    redissons = IntStream.range(0, WORKERS).mapToObj(worker -> connect(port)).toList();
    lockkeepers =
        IntStream.range(0, WORKERS).mapToObj(worker -> server.clientBuilder().build()).toList();
  }

  @AfterEach
  void stopAll() {
    redissons.forEach(RedissonClient::shutdown);
    lockkeepers.forEach(LockkeeperClient::close);
    server.close();
    if (redis != null) {
      redis.destroyForcibly();
    }
  }

  private Version onlyRedisson(int worker) {
    return Version.of(redissons.get(worker).getLock(NAME));
  }

  private Version both(int worker) {
    RedissonClient redisson = redissons.get(worker);
    LockkeeperClient lockkeeper = lockkeepers.get(worker);
    RLock old = redisson.getLock("orders/42");
    return Version.of(new MovingLock(old, lockkeeper.asLock("orders/42")));
  }

  private Version onlyLockkeeper(int worker) {
    return Version.of(lockkeepers.get(worker).asLock(NAME));
  }

  @Test
  void serviceMovesFromRedissonAndBackUnderLoadAndNoUpdateIsLost() {
    // Given
    Rollout rollout = new Rollout(WORKERS, this::onlyRedisson);

    // When
    try (rollout) {
      rollout.deploy(this::both);
      rollout.deploy(this::onlyLockkeeper);
      rollout.deploy(this::both);
      rollout.deploy(this::onlyRedisson);
    }

    // Then
    assertThat(rollout.lost()).isZero();
  }

  private static RedissonClient connect(int port) {
    Config config = new Config();
    config
        .useSingleServer()
        .setAddress("redis://127.0.0.1:" + port)
        .setConnectionMinimumIdleSize(1);
    return Redisson.create(config);
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
