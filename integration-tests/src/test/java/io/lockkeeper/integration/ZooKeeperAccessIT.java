package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Jar;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.server.rpc.Certificates;
import io.lockkeeper.server.rpc.Certificates.Signed;
import io.lockkeeper.server.testing.Ports;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A coordinator from the jar before a ZooKeeper that wants to know who comes, as documented. */
final class ZooKeeperAccessIT {

  private static final String SUPERUSER = "super:user";
  private static final String[] SESSIONS = Rig.shortSessions(20);
  private static final List<String> NODES =
      List.of("", "/leases", "/sessions", "/coordinators", "/locks", "/locks/orders%2F1");

  private final Path files = Scratch.directory("zookeeper-access");

  private ZooKeeperProcess.Builder zookeeper() {
    return ZooKeeperProcess.in(files.resolve("zookeeper"))
        .configuration("tickTime", "500")
        .configuration("syncLimit", "2");
  }

  /** DIGEST-MD5 is nothing that FIPS allows, which ZooKeeper's client keeps to by default. */
  private static Map<String, String> with(Path jaas) {
    return Map.of(
        "JAVA_TOOL_OPTIONS",
        "-Djava.security.auth.login.config=" + jaas + " -Dzookeeper.fips-mode=false");
  }

  private Path clientJaas(String password) throws IOException {
    return Files.writeString(
        files.resolve(password + ".jaas"),
        """
        Client {
          org.apache.zookeeper.server.auth.DigestLoginModule required
          username="lockkeeper"
          password="%s";
        };
        """
            .formatted(password));
  }

  private ZooKeeperProcess startWithSasl() throws Exception {
    Path jaas =
        Files.writeString(
            files.resolve("server.jaas"),
            """
            Server {
              org.apache.zookeeper.server.auth.DigestLoginModule required
              user_lockkeeper="right";
            };
            """);
    return zookeeper()
        .systemProperty("java.security.auth.login.config", jaas.toString())
        .systemProperty(
            "zookeeper.DigestAuthenticationProvider.superDigest",
            DigestAuthenticationProvider.generateDigest(SUPERUSER))
        .configuration(
            "authProvider.sasl", "org.apache.zookeeper.server.auth.SASLAuthenticationProvider")
        .start();
  }

  private static ServerProcess launch(ZooKeeperProcess zookeeper, Map<String, String> environment) {
    return ServerProcess.launch(environment, Ports.free(), zookeeper.connectString(), SESSIONS);
  }

  private static ZooKeeper connect(ZooKeeperProcess zookeeper) throws Exception {
    CompletableFuture<Void> connected = new CompletableFuture<>();
    ZooKeeper client =
        new ZooKeeper(
            zookeeper.connectString(),
            20_000,
            event -> {
              if (event.getState() == KeeperState.SyncConnected) {
                connected.complete(null);
              }
            });
    connected.get(1, TimeUnit.MINUTES);
    return client;
  }

  @Test
  void coordinatorThatProvesItselfBySaslServesAndKeepsOthersOut() throws Exception {
    // Given
    try (ZooKeeperProcess zookeeper = startWithSasl();
        ServerProcess server = launch(zookeeper, with(clientJaas("right")));
        ZooKeeper stranger = connect(zookeeper);
        ZooKeeper superuser = connect(zookeeper)) {
      superuser.addAuthInfo("digest", SUPERUSER.getBytes(StandardCharsets.UTF_8));
      server.awaitHealth(ServingStatus.SERVING);

      // When
      Asking holder = Asking.forLock(server.connect(), "orders/1");
      holder.awaitGrant();

      // Then: the queue and all else is for this identity alone
      ACL ours = new ACL(Perms.ALL, new Id("sasl", "lockkeeper"));
      for (String node : NODES) {
        String path = "/lockkeeper" + node;
        assertThat(superuser.getACL(path, null)).as(path).containsExactly(ours);
        assertThrows(
            KeeperException.NoAuthException.class, () -> stranger.getChildren(path, false), path);
      }
      String entry = superuser.getChildren("/lockkeeper/locks/orders%2F1", false).get(0);
      String path = "/lockkeeper/locks/orders%2F1/" + entry;
      assertThat(superuser.getACL(path, null)).containsExactly(ours);
      assertThrows(KeeperException.NoAuthException.class, () -> stranger.delete(path, -1));
      holder.release();
    }
  }

  @Test
  void coordinatorThatDoesNotProveItselfBySaslDoesNotServe() throws Exception {
    // Given
    try (ZooKeeperProcess zookeeper = startWithSasl();
        ServerProcess first = launch(zookeeper, with(clientJaas("right")))) {
      first.awaitHealth(ServingStatus.SERVING);

      // When
      try (ServerProcess nobody = launch(zookeeper, Map.of());
          ServerProcess wrong = launch(zookeeper, with(clientJaas("wrong")))) {
        // Then: both say why
        awaitLogged(nobody, "does not let us in, who are nobody");
        awaitLogged(wrong, "refuses our credentials");
        assertThat(nobody.health()).isNotEqualTo(ServingStatus.SERVING);
        assertThat(wrong.health()).isNotEqualTo(ServingStatus.SERVING);
      }
      assertThat(first.health()).isEqualTo(ServingStatus.SERVING);
    }
  }

  @Test
  void coordinatorThatCannotEvenBeginWithSaslStaysAndSaysSo() throws Exception {
    // Given: what its ZooKeeper client needs for DIGEST-MD5 is left out
    Map<String, String> environment =
        Map.of("JAVA_TOOL_OPTIONS", "-Djava.security.auth.login.config=" + clientJaas("right"));
    try (ZooKeeperProcess zookeeper = startWithSasl();
        ServerProcess server = launch(zookeeper, environment)) {
      // When
      awaitLogged(server, "refuses our credentials");

      // Then
      assertThat(server.health()).isNotEqualTo(ServingStatus.SERVING);
      assertThat(server.isAlive()).isTrue();
    }
  }

  private static void awaitLogged(ServerProcess server, String text) {
    Awaitility.await(text)
        .failFast("the server has exited", () -> !server.isAlive())
        .until(() -> server.output().contains(text));
  }

  @Test
  void doctorLooksAsTheCoordinatorDoesWithSaslAndSaysSo() throws Exception {
    // Given
    try (ZooKeeperProcess zookeeper = startWithSasl();
        ServerProcess server = launch(zookeeper, with(clientJaas("right")))) {
      server.awaitHealth(ServingStatus.SERVING);

      // When
      String known = doctor(zookeeper, with(clientJaas("right")));
      String nobody = doctor(zookeeper, Map.of());
      String wrong = doctor(zookeeper, with(clientJaas("wrong")));

      // Then
      assertThat(known)
          .contains("credentials are used: sasl")
          .contains("OK    /lockkeeper: is for those alone whom its access list names")
          .contains("OK    stranger: cannot read what is under /lockkeeper")
          .doesNotContain("FAIL");
      assertThat(nobody).contains("FAIL  /lockkeeper: is closed to us");
      assertThat(wrong).contains("FAIL  ensemble: a coordinator gets no session");
    }
  }

  private String doctor(ZooKeeperProcess zookeeper, Map<String, String> environment)
      throws Exception {
    List<String> command = new ArrayList<>(Jar.command(List.of()));
    command.addAll(List.of("doctor", "--zookeeper", zookeeper.connectString()));
    command.addAll(List.of(SESSIONS));
    Path output = Files.createTempFile(files, "doctor", ".txt");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().putAll(environment);
    assertThat(builder.start().waitFor(60, TimeUnit.SECONDS)).isTrue();
    String said = Files.readString(output);
    System.out.println(said);
    return said;
  }

  /** The four files of TLS between coordinators and ZooKeeper, where both read them. */
  private void installTlsFiles(String generation) throws Exception {
    Path made = Files.createDirectory(files.resolve(generation));
    Certificates servers = Certificates.authority(made, "servers");
    Certificates coordinators = Certificates.authority(made, "coordinators");
    install(servers.authority, "zookeeper-ca.pem");
    install(coordinators.authority, "clients.pem");
    install(both(servers.sign("server")), "server.pem");
    install(both(coordinators.sign("coordinator")), "coordinator.pem");
  }

  private static Path both(Signed signed) throws IOException {
    return Files.writeString(
        signed.certificate(),
        Files.readString(signed.certificate()) + Files.readString(signed.key()));
  }

  private void install(Path file, String name) throws IOException {
    Path next = Files.copy(file, files.resolve(name + ".next"));
    Files.move(next, files.resolve(name), StandardCopyOption.ATOMIC_MOVE);
  }

  private String file(String name) {
    return files.resolve(name).toString();
  }

  @Test
  void filesOfTlsToZooKeeperAreReplacedWithoutARestartAndNoLockIsLost() throws Exception {
    // Given: each side takes only what the other's authority of the moment has signed
    installTlsFiles("first");
    int port = Ports.free();
    try (ZooKeeperProcess zookeeper =
            zookeeper()
                .configuration("secureClientPort", Integer.toString(port))
                .configuration(
                    "serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory")
                .configuration("ssl.keyStore.location", file("server.pem"))
                .configuration("ssl.keyStore.type", "PEM")
                .configuration("ssl.trustStore.location", file("clients.pem"))
                .configuration("ssl.trustStore.type", "PEM")
                .configuration("ssl.clientAuth", "need")
                .start();
        ServerProcess server =
            ServerProcess.start(
                "localhost:" + port,
                Rig.shortSessions(
                    20,
                    "--zookeeper-tls=true",
                    "--zookeeper-tls-trust-store=" + file("zookeeper-ca.pem"),
                    "--zookeeper-tls-key-store=" + file("coordinator.pem")))) {
      Asking holder = Asking.forLock(server.connect(), "held");
      long token = holder.awaitToken();

      // When
      installTlsFiles("second");
      zookeeper.restart();

      // Then
      server.awaitHealth(ServingStatus.SERVING);
      Asking another = Asking.forLock(server.connect(), "another");
      assertThat(another.awaitToken()).isGreaterThan(token);
      assertThat(Asking.holderTokens(server.connect(), "held")).containsExactly(token);
      another.release();
      holder.release();
    }
  }
}
