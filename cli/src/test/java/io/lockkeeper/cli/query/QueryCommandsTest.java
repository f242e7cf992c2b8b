package io.lockkeeper.cli.query;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Duration;
import com.google.protobuf.util.JsonFormat;
import io.grpc.Status;
import io.lockkeeper.cli.Cli;
import io.lockkeeper.cli.FakeLockService;
import io.lockkeeper.cli.Main;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.text.LockText;
import io.lockkeeper.v1.ChangeCause;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.Gap;
import io.lockkeeper.v1.LockChange;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.SnapshotEnd;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class QueryCommandsTest {

  private static final LockState HELD =
      LockState.newBuilder()
          .setName("orders/42")
          .addHolders(
              FakeLockService.contender("alice@ci")
                  .setHeldFor(seconds(13))
                  .setFencingToken(4_294_967_301L)
                  .putMetadata("note", "nightly"))
          .setQueueLength(2)
          .addQueue(FakeLockService.contender("bob@ci").setQueuedFor(seconds(5)))
          .setRevision(77)
          .build();
  private static final LockState FOREIGN =
      LockState.newBuilder()
          .setName("reports")
          .addHolders(io.lockkeeper.v1.Contender.newBuilder().setHeldFor(seconds(3_700)))
          .build();

  @AutoClose private final FakeLockService server = new FakeLockService();

  @Test
  void lsShowsEachLockOnALine() {
    // Given
    server.locks.addAll(List.of(HELD));
    // When
    Cli result = Cli.run("ls", "--server", server.address());
    // Then
    assertThat(result.out().lines())
        .containsExactly(
            "LOCK       MODE       HELD BY   FOR   WAITING  TOKEN",
            "orders/42  exclusive  alice@ci  13 s  2        4294967301");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void lsReadsAllPages() throws IOException {
    // Given
    server.locks.addAll(List.of(HELD, FOREIGN));
    // When
    Cli result = Cli.run("ls", "--json", "--server", server.address());
    // Then
    List<String> lines = result.out().lines().toList();
    assertThat(lines).hasSize(2);
    LockState.Builder parsed = LockState.newBuilder();
    JsonFormat.parser().merge(lines.get(0), parsed);
    assertThat(parsed.build()).isEqualTo(HELD);
  }

  @Test
  void lsOfAPrefixShowsOnlyThat() {
    // Given
    server.locks.addAll(List.of(HELD, FOREIGN));
    // When
    Cli result = Cli.run("ls", "rep", "--server", server.address());
    // Then
    assertThat(result.out()).contains("(not a Lockkeeper client)", "1 h 1 m").doesNotContain("42");
  }

  @Test
  void lsOfNothingSaysSoBesideTheOutput() {
    // When
    Cli result = Cli.run("ls", "x", "--server", server.address());
    // Then
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).contains("no lock in use begins with x");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void showTellsHolderQueueAndHowManyMore() {
    // Given
    server.locks.add(HELD);
    // When
    Cli result = Cli.run("show", "orders/42", "--server", server.address());
    // Then
    assertThat(result.out().lines())
        .containsExactly(
            "orders/42 is held",
            "",
            "HELD BY   MODE       FOR   NEEDS  TOKEN       LEASE             METADATA",
            "alice@ci  exclusive  13 s  -      4294967301  00112233aabbccdd  note=nightly",
            "",
            "#  WAITING  MODE       FOR  LEASE             METADATA",
            "1  bob@ci   exclusive  5 s  00112233aabbccdd  -",
            "and 1 more");
  }

  @Test
  void nameThatIsVeryLongPushesItsOwnRowAsideOnly() {
    // Given
    String name = "long/" + "x".repeat(400);
    server.locks.add(LockState.newBuilder().setName(name).build());
    server.locks.add(LockState.newBuilder().setName("short").build());
    // When
    Cli result = Cli.run("ls", "--server", server.address());
    // Then
    assertThat(result.out().lines().filter(line -> line.startsWith("long/")))
        .containsExactly(name + "  -     -        -    0        -");
    assertThat(result.out().lines().filter(line -> !line.startsWith("long/")))
        .allSatisfy(line -> assertThat(line).hasSizeLessThan(120));
  }

  @Test
  void lsAddsUpPermitsAndSaysWhenALockIsFreeButDelayed() {
    // Given
    server.locks.add(pool());
    server.locks.add(LockState.newBuilder().setName("delayed").setDelayedFor(seconds(7)).build());
    // When
    Cli result = Cli.run("ls", "--server", server.address());
    // Then
    assertThat(result.out().lines())
        .containsExactly(
            "LOCK  MODE            HELD BY           FOR   WAITING  TOKEN",
            "pool  5 of 6 permits  alice@ci, bob@ci  0 ms  0        -",
            "LOCK     MODE  HELD BY              FOR  WAITING  TOKEN",
            "delayed  -     (next grant in 7 s)  -    0        -");
  }

  @Test
  void showTellsModesOwnersNeedsLimitAndDelay() {
    // Given
    server.locks.add(pool());
    // When
    Cli result = Cli.run("show", "pool", "--server", server.address());
    // Then
    assertThat(result.out().lines())
        .containsExactly(
            "pool is held",
            "  its limit is set to 6 permits",
            "  its last holder was lost: the next grant comes in 7 s at the earliest",
            "",
            "HELD BY   MODE            FOR   NEEDS  TOKEN  LEASE                      METADATA",
            "alice@ci  3 of 6 permits  0 ms  40 s   -      00112233aabbccdd/worker-1  -",
            "bob@ci    2 of 6 permits  0 ms  -      -      00112233aabbccdd           -");
  }

  private static LockState pool() {
    return LockState.newBuilder()
        .setName("pool")
        .setConfiguredLimit(6)
        .setDelayedFor(seconds(7))
        .addHolders(permits("alice@ci", 3).setOwner("worker-1").setReleaseIn(seconds(40)))
        .addHolders(permits("bob@ci", 2))
        .build();
  }

  private static Contender.Builder permits(String holder, int permits) {
    return FakeLockService.contender(holder)
        .setMode(LockMode.LOCK_MODE_PERMITS)
        .setPermits(permits)
        .setLimit(5);
  }

  @Test
  void everyModeHasItsWord() {
    // Given
    Contender.Builder contender = FakeLockService.contender("a");
    LockState lock = LockState.getDefaultInstance();
    // When // Then
    assertThat(LockText.mode(contender.setMode(LockMode.LOCK_MODE_READ).build(), lock))
        .isEqualTo("read");
    assertThat(LockText.mode(contender.setMode(LockMode.LOCK_MODE_WRITE).build(), lock))
        .isEqualTo("write");
    assertThat(
            LockText.mode(
                contender.setMode(LockMode.LOCK_MODE_CUSTOM).setCustom("vip\n").build(), lock))
        .isEqualTo("vip?");
    assertThat(LockText.mode(contender.setMode(LockMode.LOCK_MODE_UNSPECIFIED).build(), lock))
        .isEqualTo("of another kind");
    assertThat(
            LockText.mode(
                contender.setMode(LockMode.LOCK_MODE_PERMITS).setPermits(2).build(), lock))
        .isEqualTo("2 permits");
  }

  @Test
  void watchTellsModesMetadataAndNeeds() {
    // Given
    Contender reader =
        FakeLockService.contender("alice@ci")
            .setMode(LockMode.LOCK_MODE_READ)
            .setReleaseIn(seconds(5))
            .putMetadata("step", "2")
            .build();
    server.events.add(WatchResponse.newBuilder().setSnapshot(pool()).build());
    server.events.add(
        WatchResponse.newBuilder()
            .setChange(
                LockChange.newBuilder()
                    .setName("orders/42")
                    .setCause(ChangeCause.CHANGE_CAUSE_METADATA)
                    .setContender(reader)
                    .addHolders(reader)
                    .setCoalesced(1))
            .build());
    server.events.add(
        WatchResponse.newBuilder()
            .setChange(
                LockChange.newBuilder()
                    .setName("pool")
                    .setCause(ChangeCause.CHANGE_CAUSE_LIMIT)
                    .setCoalesced(1))
            .build());
    // When
    Cli result = Cli.run("watch", "--server", server.address());
    // Then
    assertThat(result.out().lines().map(line -> line.substring(25)))
        .containsExactly(
            "pool  held by alice@ci (3 of 5 permits, needs 40 s), bob@ci (2 of 5 permits), limit 6,"
                + " next grant in 7 s",
            "orders/42  metadata: alice@ci (read, needs 5 s), step=2; now held by alice@ci (read,"
                + " needs 5 s)",
            "pool  limit; now free");
  }

  @Test
  void showOfALockNobodyUsesSaysFree() {
    // When
    Cli result = Cli.run("show", "orders/1", "--server", server.address());
    // Then
    assertThat(result.out().lines()).containsExactly("orders/1 is free");
    assertThat(result.exitCode()).isEqualTo(ExitCodes.FREE);
  }

  @Test
  void watchPrintsEveryEvent() {
    // Given
    server.events.add(WatchResponse.newBuilder().setSnapshot(HELD).build());
    server.events.add(
        WatchResponse.newBuilder().setSnapshotEnd(SnapshotEnd.getDefaultInstance()).build());
    server.events.add(
        WatchResponse.newBuilder()
            .setChange(
                LockChange.newBuilder()
                    .setName("orders/42")
                    .setCause(ChangeCause.CHANGE_CAUSE_LEASE_ENDED)
                    .setContender(FakeLockService.contender("alice@ci"))
                    .addHolders(FakeLockService.contender("bob@ci"))
                    .setCoalesced(1)
                    .setQueueLength(1))
            .build());
    server.events.add(
        WatchResponse.newBuilder()
            .setChange(LockChange.newBuilder().setName("orders/42").setCoalesced(3))
            .build());
    server.events.add(
        WatchResponse.newBuilder().setGap(Gap.newBuilder().setReason("reconnected")).build());
    // When
    Cli result = Cli.run("watch", "--server", server.address());
    // Then
    assertThat(result.out().lines().map(line -> line.substring(25)))
        .containsExactly(
            "orders/42  held by alice@ci, 2 waiting",
            "-- that is all in use now; changes follow",
            "orders/42  lease ended: alice@ci; now held by bob@ci, 1 waiting",
            "orders/42  3 changes; now free",
            "-- changes were missed (reconnected); all in use again:");
  }

  @Test
  void watchWithJsonPrintsWhatTheServerSent() {
    // Given
    server.events.add(WatchResponse.newBuilder().setRevision(9).setSnapshot(HELD).build());
    // When
    Cli result = Cli.run("watch", "--json", "--server", server.address());
    // Then
    assertThat(result.out()).startsWith("{\"revision\":\"9\",\"snapshot\":{").hasLineCount(1);
  }

  @Test
  void nextServerIsAskedWhenTheFirstDoesNotAnswer() throws IOException {
    // Given
    server.locks.add(HELD);
    // When
    Cli result = Cli.run("ls", "--server", "localhost:" + closedPort() + "," + server.address());
    // Then
    assertThat(result.out()).contains("orders/42");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void watchGoesOnAtTheNextServerWhereItStood() throws IOException {
    // Given
    server.events.add(changed(5));
    server.watchEnd = Optional.of(Status.UNAVAILABLE);
    try (FakeLockService second = new FakeLockService()) {
      second.events.add(changed(6));
      // When
      Cli result =
          Cli.run("watch", "--json", "--server", server.address() + "," + second.address());
      // Then
      assertThat(result.out()).hasLineCount(2).contains("\"5\"", "\"6\"");
      assertThat(result.err()).isEmpty();
      assertThat(second.requests)
          .singleElement()
          .isEqualTo(WatchRequest.newBuilder().setStartRevision(5).build());
    }
  }

  @Test
  void watchSaysWhenTheServerIsGoneAndWhenItIsBack() {
    // Given
    server.events.add(changed(5));
    server.nextWatchEnds.add(Status.UNAVAILABLE);
    // When
    Cli result = Cli.run("watch", "--json", "--server", server.address());
    // Then
    assertThat(result.err().lines())
        .containsExactly(
            "lockkeeper: the server is gone; trying again",
            "lockkeeper: the server is back; what was missed follows");
    assertThat(result.out()).hasLineCount(2);
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void watchEndsWhenNobodyReadsItsOutput() {
    // Given
    server.events.addAll(List.of(changed(5), changed(6), changed(7)));
    List<String> written = new ArrayList<>();
    Writer reader =
        new Writer() {
          @Override
          public void write(char[] text, int from, int length) {
            written.add(new String(text, from, length).strip());
          }

          @Override
          public void flush() throws IOException {
            throw new IOException("Broken pipe");
          }

          @Override
          public void close() {}
        };
    // When
    int exitCode =
        Main.commandLine()
            .setOut(new PrintWriter(reader))
            .execute("watch", "--json", "--server", server.address());
    // Then
    assertThat(exitCode).isZero();
    assertThat(written).filteredOn(text -> !text.isEmpty()).hasSize(1);
  }

  private static WatchResponse changed(long revision) {
    return WatchResponse.newBuilder()
        .setRevision(revision)
        .setChange(LockChange.newBuilder().setName("orders/42").setCoalesced(1))
        .build();
  }

  @Test
  void unreachableServerIsNamedWithWhatToCheck() throws IOException {
    // Given
    String address = "localhost:" + closedPort();
    // When
    Cli result = Cli.run("ls", "--server", address);
    // Then
    assertThat(result.err())
        .contains(address + ": Connection refused", "lockkeeper dev", "LOCKKEEPER_SERVER", "--tls")
        .doesNotContain("\tat ");
    assertThat(result.exitCode()).isEqualTo(ExitCodes.UNAVAILABLE);
  }

  @Test
  void whatTheServerSaysIsPassedOn() {
    // Given
    server.refusal =
        java.util.Optional.of(Status.INVALID_ARGUMENT.withDescription("name: too long"));
    // When
    Cli refused = Cli.run("show", "x", "--server", server.address());
    server.refusal = java.util.Optional.of(Status.UNAVAILABLE.withDescription("no ZooKeeper"));
    Cli unavailable = Cli.run("show", "x", "--server", server.address());
    // Then
    assertThat(refused.err()).startsWith("lockkeeper: the server refuses: name: too long");
    assertThat(refused.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(unavailable.err()).contains(server.address() + ": no ZooKeeper");
    assertThat(unavailable.exitCode()).isEqualTo(ExitCodes.UNAVAILABLE);
  }

  @Test
  void refusalThatDependsOnWhoAsksSaysHowToSayWhoYouAre() {
    // Given
    server.refusal = Optional.of(Status.UNAUTHENTICATED.withDescription("no certificate"));
    // When
    Cli unknown = Cli.run("ls", "--server", server.address());
    server.refusal = Optional.of(Status.PERMISSION_DENIED.withDescription("not yours"));
    Cli forbidden = Cli.run("ls", "--server", server.address());
    // Then
    assertThat(unknown.err())
        .startsWith("lockkeeper: the server refuses: no certificate\nSay who you are: with --cert");
    assertThat(unknown.exitCode()).isEqualTo(ExitCodes.FAILED);
    assertThat(forbidden.err()).contains("not yours\n", "--token-file");
    assertThat(forbidden.exitCode()).isEqualTo(ExitCodes.FAILED);
  }

  @Test
  void tokenOfTheFileGoesWithEachCall(@TempDir Path folder) throws IOException {
    // Given
    Path file = Files.writeString(folder.resolve("token"), "t0ken\n");
    // When
    Cli result = Cli.run("ls", "--server", server.address(), "--token-file", file.toString());
    // Then
    assertThat(result.exitCode()).isZero();
    assertThat(server.authorizations).containsExactly("Bearer t0ken");
  }

  private static int closedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private static Duration seconds(long seconds) {
    return Duration.newBuilder().setSeconds(seconds).build();
  }
}
