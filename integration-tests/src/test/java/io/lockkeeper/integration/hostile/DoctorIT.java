package io.lockkeeper.integration.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Program;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.server.testing.Ports;
import io.lockkeeper.server.testing.TlsFiles;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;

/** What doctor says of real ensembles. */
final class DoctorIT {

  private static final List<String> TIMES =
      List.of("--zookeeper-tick-time=200ms", "--zookeeper-sync-limit=5");

  private final Path files = Scratch.directory("doctor");

  private static Program ask(String zookeeper, String... flags) {
    List<String> arguments = new ArrayList<>(List.of("doctor", "--zookeeper", zookeeper));
    arguments.addAll(TIMES);
    arguments.addAll(List.of(flags));
    Program said = Program.run(Map.of(), arguments.toArray(String[]::new));
    System.out.println(said.text());
    return said;
  }

  private ZooKeeperProcess.Builder zookeeper(String name) {
    return ZooKeeperProcess.in(files.resolve(name));
  }

  private String credentials() throws IOException {
    return Files.writeString(files.resolve("credentials"), "lk:secret\n").toString();
  }

  @Test
  void openEnsembleGetsWarningsThatSayWhatToDo() throws Exception {
    // Given
    try (ZooKeeperProcess zookeeper = zookeeper("open").start();
        ServerProcess server =
            ServerProcess.start(zookeeper.connectString(), TIMES.toArray(String[]::new))) {
      // When
      Program said = ask(zookeeper.connectString());
      // Then
      assertThat(server.isAlive()).isTrue();
      assertThat(said.exitCode()).isEqualTo(1);
      assertThat(said.text())
          .contains("WARN  /lockkeeper: is open to everybody")
          .contains("WARN  stranger: reads the session passwords")
          .contains("4lw.commands.whitelist")
          .contains("--zookeeper-credentials")
          .contains("tickTime is 200")
          .doesNotContain("FAIL");
    }
  }

  @Test
  void ensembleWithCredentialsIsClosedToStrangersAndNothingFails() throws Exception {
    // Given
    List<String> flags = new ArrayList<>(TIMES);
    flags.addAll(List.of("--zookeeper-credentials", credentials()));
    try (ZooKeeperProcess zookeeper = zookeeper("digest").start();
        ServerProcess server =
            ServerProcess.start(zookeeper.connectString(), flags.toArray(String[]::new))) {
      // When
      Program said =
          ask(zookeeper.connectString(), "--zookeeper-credentials", credentials(), "--json");
      Program without = ask(zookeeper.connectString());
      // Then
      assertThat(server.isAlive()).isTrue();
      assertThat(said.text())
          .contains("credentials are used: digest:lk")
          .contains("claims of sessions is open to everybody")
          .contains("cannot read what is under /lockkeeper")
          .doesNotContain("secret\"", "\"FAIL\"");
      assertThat(said.exitCode()).isEqualTo(1);
      assertThat(without.text()).contains("FAIL  /lockkeeper: is closed to us");
      assertThat(without.exitCode()).isEqualTo(2);
    }
  }

  @Test
  void claimThatIsOpenAmongThoseThatAreClosedGetsAWarning() throws Exception {
    // Given
    try (ZooKeeperProcess zookeeper = zookeeper("left-open").start();
        ZooKeeper client = new ZooKeeper(zookeeper.connectString(), 30_000, event -> {})) {
      for (String path :
          List.of("/lockkeeper", "/lockkeeper/sessions", "/lockkeeper/sessions/00000000000000aa")) {
        client.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
      }
      // When
      Program said = ask(zookeeper.connectString(), "--zookeeper-credentials", credentials());
      // Then
      assertThat(said.text())
          .contains(
              "WARN  /lockkeeper/sessions/00000000000000aa: 1 of 1 claims of sessions are open to everybody");
    }
  }

  @Test
  void ensembleWithTlsIsLookedAtOverTls() throws Exception {
    // Given
    TlsFiles server = TlsFiles.of(files, "server", "dns:localhost");
    int port = Ports.free();
    try (ZooKeeperProcess zookeeper =
        zookeeper("tls")
            .configuration("secureClientPort", Integer.toString(port))
            .configuration(
                "serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory")
            .configuration("ssl.keyStore.location", server.both().toString())
            .configuration("ssl.keyStore.type", "PEM")
            .configuration("ssl.clientAuth", "none")
            .start()) {
      // When
      Program said =
          ask(
              "localhost:" + port,
              "--zookeeper-tls=true",
              "--zookeeper-tls-trust-store=" + server.certificate());
      // Then
      assertThat(zookeeper.isAlive()).isTrue();
      assertThat(said.text()).contains("OK    ensemble: TLS is used").doesNotContain("FAIL");
      assertThat(said.exitCode()).isEqualTo(1);
    }
  }

  @Test
  void ensembleThatIsNotThereIsSaidToBeSoWithinItsBounds() throws Exception {
    // Given
    String nobody = "127.0.0.1:" + Ports.free();
    // When
    Program said = ask(nobody);
    // Then
    assertThat(said.text())
        .contains("FAIL  " + nobody + ": cannot be reached")
        .contains("FAIL  ensemble: a coordinator gets no session");
    assertThat(said.exitCode()).isEqualTo(2);
  }
}
