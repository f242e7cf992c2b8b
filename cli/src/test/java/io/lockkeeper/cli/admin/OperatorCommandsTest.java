package io.lockkeeper.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Duration;
import io.grpc.Status;
import io.lockkeeper.cli.Cli;
import io.lockkeeper.cli.FakeLockService;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.v1.AdminServiceCloseLeaseRequest;
import io.lockkeeper.v1.CoordinatorState;
import io.lockkeeper.v1.DrainRequest;
import io.lockkeeper.v1.EnsembleState;
import io.lockkeeper.v1.FreezeRequest;
import io.lockkeeper.v1.Frozen;
import io.lockkeeper.v1.LockSessionState;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.UnfreezeRequest;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OperatorCommandsTest {

  @AutoClose private final FakeLockService server = new FakeLockService();

  private Cli run(String... args) {
    String[] all = new String[args.length + 2];
    System.arraycopy(args, 0, all, 0, args.length);
    all[args.length] = "--server";
    all[args.length + 1] = server.address();
    return Cli.run(all);
  }

  private static Duration seconds(long seconds) {
    return Duration.newBuilder().setSeconds(seconds).build();
  }

  private static Frozen.Builder frozen() {
    return Frozen.newBuilder()
        .setPrefix("orders/")
        .setReason("migration\u001b[2J")
        .setFrozenBy("10.0.0.7:41234")
        .setFrozenFor(seconds(75));
  }

  @Test
  void freezeSendsReasonAndTime() {
    // When
    Cli result = run("freeze", "orders/", "--reason", "migration", "--for", "90s");
    Cli forEver = run("freeze", "", "--reason", "all");
    // Then
    assertThat(server.requests)
        .containsExactly(
            FreezeRequest.newBuilder()
                .setPrefix("orders/")
                .setReason("migration")
                .setDuration(seconds(90))
                .build(),
            FreezeRequest.newBuilder().setReason("all").build());
    assertThat(result.out().lines()).containsExactly("orders/ frozen for 1 m 30 s");
    assertThat(forEver.out().lines()).containsExactly("(all locks) frozen until it is unfrozen");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void freezeWithoutAReasonIsAMistake() {
    // When
    Cli result = run("freeze", "orders/");
    // Then
    assertThat(result.err()).contains("--reason");
    assertThat(result.exitCode()).isEqualTo(ExitCodes.USAGE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "freeze a --reason b --for 9000h | --for: must be 1s to 365d, is 375d",
        "freeze a --reason b --for 0s    | --for: must be 1s to 365d, is 0s",
        "drain --grace 61m               | --grace: must be 0s to 1h, is 61m",
        "force-release a --grace 2h      | --grace: must be 0s to 1h, is 2h",
        "release-request a --deadline 8d | --deadline: must be 0s to 7d, is 8d",
        "run a --ttl 1s -- true          | --ttl: must be 2s to 1h, is 1s",
        "ls --ca /none/ca.pem            | --ca: cannot read the TLS files: /none/ca.pem",
        "ls --cert /none/c --key /none/k | --cert, --key: cannot read the TLS files: /none/",
      })
  void valueThatCannotBeIsToldWithItsOptionAndTheLimit(String line, String message) {
    // When
    Cli result = Cli.run(line.split(" "));
    // Then
    assertThat(result.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(result.err()).startsWith("lockkeeper: " + message);
    assertThat(server.requests).isEmpty();
  }

  @Test
  void unfreezeOfWhatIsNotFrozenFails() {
    // Given
    server.refusal = Optional.of(Status.NOT_FOUND.withDescription("the prefix 'a' is not frozen"));
    // When
    Cli result = run("unfreeze", "a");
    // Then
    assertThat(server.requests)
        .containsExactly(UnfreezeRequest.newBuilder().setPrefix("a").build());
    assertThat(result.err()).contains("the prefix 'a' is not frozen");
    assertThat(result.exitCode()).isEqualTo(ExitCodes.FAILED);
  }

  @Test
  void closeLeaseSaysWhatItDid() {
    // When
    Cli result = run("close-lease", "00112233aabbccdd", "--reason", "stuck");
    // Then
    assertThat(server.requests)
        .containsExactly(
            AdminServiceCloseLeaseRequest.newBuilder()
                .setLease("00112233aabbccdd")
                .setReason("stuck")
                .build());
    assertThat(result.out().lines()).containsExactly("lease 00112233aabbccdd is closed");
  }

  @Test
  void drainSaysWhatIsLeftAndFailsWhileSomethingIs() {
    // Given
    server.drained.setPeers(1);
    // When
    Cli done = run("drain");
    server.drained.setLeasesLeft(2).setPeers(0);
    Cli left = run("drain", "--grace", "5s");
    // Then
    assertThat(server.requests)
        .containsExactly(
            DrainRequest.newBuilder().setGrace(seconds(30)).build(),
            DrainRequest.newBuilder().setGrace(seconds(5)).build());
    assertThat(done.out().lines()).containsExactly("drained: everything is handed over");
    assertThat(done.exitCode()).isZero();
    assertThat(left.out().lines())
        .containsExactly(
            "2 leases are left; it goes on",
            "there is no other server: the leases wait for the next one to start");
    assertThat(left.exitCode()).isEqualTo(ExitCodes.FAILED);
  }

  @Test
  void drainOfSeveralServersIsRefused() {
    // When
    Cli result = Cli.run("drain", "--server", server.address() + "," + server.address());
    // Then
    assertThat(server.requests).isEmpty();
    assertThat(result.err()).contains("must name one server");
    assertThat(result.exitCode()).isEqualTo(ExitCodes.USAGE);
  }

  @Test
  void clusterIsShownAsTablesOrAsJson() {
    // Given
    server
        .cluster
        .setCoordinatorId("c-1")
        .setVersion("1.2.3")
        .setMirrorCurrent(true)
        .addCoordinators(
            CoordinatorState.newBuilder()
                .setCoordinatorId("c-1")
                .setAddress("one:7420")
                .setKnownFor(seconds(65))
                .setServing(true))
        .addCoordinators(
            CoordinatorState.newBuilder().setCoordinatorId("c-2").setAddress("two:7420"))
        .addSessions(
            LockSessionState.newBuilder()
                .setSession("ab12")
                .setCoordinatorId("c-1")
                .setEpoch(1)
                .setLeases(3)
                .setUsedPercent(7))
        .addSessions(
            LockSessionState.newBuilder()
                .setSession("cd34")
                .setCoordinatorId("c-9")
                .setEpoch(4)
                .setOrphaned(true))
        .setSessionCount(2)
        .setOrphanCount(1)
        .setEnsemble(EnsembleState.newBuilder().addServers("zk:2181").setConnectedTo("zk:2181"))
        .addFrozen(frozen());
    // When
    Cli tables = run("cluster");
    Cli json = run("cluster", "--json");
    // Then
    assertThat(tables.out().lines())
        .containsExactly(
            "answered by c-1, version 1.2.3",
            "ZooKeeper zk:2181, connected to zk:2181",
            "",
            "SERVER  ADDRESS   KNOWN FOR  STATE",
            "c-1     one:7420  1 m 5 s    serving",
            "c-2     two:7420  -          not serving",
            "",
            "SESSION  SERVED BY          EPOCH  LEASES  USED",
            "ab12     c-1                1      3       7 %",
            "cd34     nobody, after c-9  4      -       -",
            "",
            "FROZEN   FOR       THAWS IN  BY              REASON",
            "orders/  1 m 15 s  never     10.0.0.7:41234  migration?[2J");
    assertThat(json.out()).contains("\"orphanCount\":1");
  }

  @Test
  void lockThatIsFrozenSaysWhy() {
    // Given
    server.locks.add(
        LockState.newBuilder().setName("orders/42").setQueueLength(2).setFrozen(frozen()).build());
    // When
    Cli shown = run("show", "orders/42");
    Cli listed = run("ls");
    // Then
    assertThat(shown.out()).contains("it is frozen: migration?[2J; nobody new is granted it");
    assertThat(listed.out()).contains("- (frozen: migration?[2J)");
  }
}
