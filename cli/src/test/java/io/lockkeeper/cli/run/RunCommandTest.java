package io.lockkeeper.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.ManagedChannel;
import io.lockkeeper.cli.Main;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockSpec;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class RunCommandTest {

  private static final String UNTIL_TOLD =
      "trap 'touch tidied; exit 3' TERM; touch ready; while :; do sleep 0.05; done";

  @TempDir private Path directory;
  private final InMemoryLockkeeper server = InMemoryLockkeeper.start();
  private Optional<InMemoryLockkeeper> peer = Optional.empty();
  private final StringWriter err = new StringWriter();
  private Supplier<Watchdog> watchdogs = Watchdog::start;

  @AfterEach
  void stop() {
    peer.ifPresent(InMemoryLockkeeper::close);
    server.close();
  }

  @Test
  void commandRunsWithTheLockAndItsTokenAndItsExitCodeIsOurs() throws Exception {
    // When
    int exitCode =
        run("test \"$LOCKKEEPER_LOCK\" = orders/42 && echo $LOCKKEEPER_TOKEN > token; exit 7");
    // Then
    assertThat(exitCode).isEqualTo(7);
    assertThat(Long.parseLong(Files.readString(directory.resolve("token")).strip())).isPositive();
    assertThat(err.toString()).isEmpty();
    assertThat(server.holderToken("orders/42")).isEmpty();
  }

  @Test
  void commandThatIsMissingLeavesTheLockFree() {
    // When
    int exitCode = execute("orders/42", "--", "no-such-command-here");
    // Then
    assertThat(exitCode).isEqualTo(ExitCodes.NOT_FOUND);
    assertThat(err.toString())
        .contains("cannot run no-such-command-here: No such file or directory");
    assertThat(server.holderToken("orders/42")).isEmpty();
  }

  @Test
  void heldLockIsNotWaitedForLongerThanTold() throws Exception {
    // Given
    try (LockkeeperClient other = server.clientBuilder().holder("alice@ci\u001b[2J").build();
        LockHandle held = other.lock("orders/42")) {
      // When
      int exitCode = run("touch ran", "--wait", "0s");
      // Then
      assertThat(held.isValid()).isTrue();
      assertThat(exitCode).isEqualTo(ExitCodes.NOT_ACQUIRED);
      assertThat(err.toString()).contains("TIMED_OUT", "alice@ci").doesNotContain("\u001b");
      assertThat(directory.resolve("ran")).doesNotExist();
    }
  }

  @Test
  void lostLockEndsTheCommand() {
    // Given
    CompletableFuture<Integer> exitCode = runInBackground(UNTIL_TOLD);
    awaitFile("ready");
    // When
    server.removeHolder("orders/42");
    // Then
    assertThat(exitCode.join()).isEqualTo(ExitCodes.LOST);
    assertThat(directory.resolve("tidied")).exists();
    assertThat(err.toString()).contains("the lock is lost (REMOVED)");
  }

  @Test
  void serverWithoutContactIsNotCalledSilent() {
    // Given
    CompletableFuture<Integer> exitCode = runInBackground(UNTIL_TOLD, "--ttl", "6s");
    awaitFile("ready");
    // When
    server.jeopardy();
    await().until(() -> err.toString().contains("the server has no contact with ZooKeeper"));
    server.freeze();
    awaitFile("tidied");
    server.thaw();
    server.safe();
    // Then
    assertThat(exitCode.join()).isEqualTo(ExitCodes.LOST);
    assertThat(err.toString())
        .contains("the server still has no contact with ZooKeeper")
        .doesNotContain("no word from the server");
  }

  @Test
  void lockIsKeptWhenItsServerCrashes() throws IOException {
    // Given
    InMemoryLockkeeper second = server.startPeer();
    peer = Optional.of(second);
    CompletableFuture<Integer> exitCode =
        runInBackground(
            "touch ready; while ! test -e done; do sleep 0.05; done; exit 7",
            "--server",
            "first:1,peer:2");
    awaitFile("ready");
    // When
    server.crash();
    await("an event from the peer")
        .until(
            () -> {
              second.requestRelease("orders/42", "bob@ci", "");
              return !err.toString().isEmpty();
            });
    Files.createFile(directory.resolve("done"));
    // Then
    assertThat(exitCode.join()).isEqualTo(7);
    assertThat(err.toString().lines()).allMatch(line -> line.contains("bob@ci asks for"));
    assertThat(second.holderToken("orders/42")).isEmpty();
  }

  @Test
  void waitingGoesOnAtTheNextServer() throws Exception {
    // Given
    InMemoryLockkeeper second = server.startPeer();
    peer = Optional.of(second);
    try (LockkeeperClient other = server.clusterClientBuilder().holder("alice@ci").build()) {
      LockHandle held = other.lock("orders/42");
      CompletableFuture<Integer> exitCode = runInBackground("exit 7", "--server", "first:1,peer:2");
      await().until(() -> err.toString().contains("1 ahead, held by alice@ci for"));
      // When
      server.crash();
      held.close();
      // Then
      assertThat(exitCode.join()).isEqualTo(7);
    }
  }

  @Test
  void readersRunTogether() throws Exception {
    // Given
    try (LockkeeperClient other = server.clientBuilder().build();
        LockHandle read = other.lock(LockRequest.of(LockSpec.read("orders/42")))) {
      // When
      int reading = run("exit 0", "--mode", "read", "--wait", "0s");
      int writing = run("exit 0", "--mode", "write", "--wait", "0s");
      // Then
      assertThat(read.isValid()).isTrue();
      assertThat(reading).isZero();
      assertThat(writing).isEqualTo(ExitCodes.NOT_ACQUIRED);
    }
  }

  @Test
  void permitsAreTakenWithinTheLimit() throws Exception {
    // Given
    try (LockkeeperClient other = server.clientBuilder().build();
        LockHandle two = other.lock(LockRequest.of(LockSpec.permits("orders/42", 2, 3)))) {
      // When
      int last = run("exit 0", "--permits", "1", "--wait", "0s");
      int tooMany = run("exit 0", "--permits", "2", "--limit", "3", "--wait", "0s");
      // Then
      assertThat(two.isValid()).isTrue();
      assertThat(last).isZero();
      assertThat(tooMany).isEqualTo(ExitCodes.NOT_ACQUIRED);
    }
  }

  @Test
  void severalLocksAreHeldTogetherAndTheirTokensTold() throws Exception {
    // When
    int exitCode = run("echo \"$LOCKKEEPER_LOCK_TOKENS\" > tokens", "--also", "a b", "--also", "c");
    // Then
    assertThat(exitCode).isZero();
    assertThat(Files.readAllLines(directory.resolve("tokens")))
        .hasSize(3)
        .satisfies(lines -> assertThat(lines.get(0)).matches("[0-9]+ orders/42"))
        .satisfies(lines -> assertThat(lines.get(1)).matches("[0-9]+ a b"))
        .satisfies(lines -> assertThat(lines.get(2)).matches("[0-9]+ c"));
  }

  @Test
  void otherLockThatIsTakenIsWaitedForByItsName() throws Exception {
    // Given
    try (LockkeeperClient other = server.clientBuilder().holder("alice@ci").build()) {
      LockHandle held = other.lock("orders/43");
      CompletableFuture<Integer> exitCode = runInBackground("exit 0", "--also", "orders/43");
      await().until(() -> err.toString().contains("waiting for orders/4"));
      // When
      held.close();
      // Then
      assertThat(exitCode.join()).isZero();
      assertThat(err.toString()).contains("orders/43", "alice@ci");
    }
  }

  @Test
  void wishOfAnotherIsSaidWithItsReasonAndItsDeadline() {
    // Given
    CompletableFuture<Integer> exitCode =
        runInBackground("touch ready; while [ ! -e enough ]; do sleep 0.05; done");
    awaitFile("ready");
    try (LockkeeperClient other = server.clientBuilder().holder("bob@ci").build()) {
      // When
      other.requestRelease("orders/42", "maintenance", Duration.ofMinutes(10));
      server.requestRelease("orders/42", "carol", "");
      // Then
      await().until(() -> err.toString().contains("bob@ci asks for the lock: maintenance; it may"));
      await().until(() -> err.toString().contains("carol asks for the lock; nothing is taken"));
    } finally {
      directory.resolve("enough").toFile().mkdir();
    }
    assertThat(exitCode.join()).isZero();
  }

  @Test
  void commandIsEndedWhenItHasHeldTheLockForLongEnough() {
    // When
    int exitCode = run(UNTIL_TOLD, "--max-hold", "2s");
    // Then
    assertThat(exitCode).isEqualTo(ExitCodes.LOST);
    assertThat(err.toString()).contains("(--max-hold)").doesNotContain("no word from the server");
  }

  @Test
  void commandThatCannotBeWatchedOverIsNotStarted() {
    // Given
    watchdogs =
        () -> {
          throw new CliException(ExitCodes.FAILED, "no sh", new IOException("no such file"));
        };
    // When
    int exitCode = run("touch started");
    // Then
    assertThat(exitCode).isEqualTo(ExitCodes.FAILED);
    assertThat(err.toString()).contains("no sh");
    assertThat(directory.resolve("started")).doesNotExist();
    assertThat(server.holderToken("orders/42")).isEmpty();
  }

  @Test
  void commandWhoseWatchdogIsGoneIsKilledBeforeTheLockIsFree() {
    // Given
    watchdogs =
        () -> {
          Watchdog watchdog = Watchdog.start();
          watchdog.close();
          return watchdog;
        };
    // When
    int exitCode = run("while :; do sleep 0.1; done");
    // Then
    assertThat(exitCode).isEqualTo(ExitCodes.FAILED);
    assertThat(err.toString()).contains("is gone");
    assertThat(ProcessHandle.current().children())
        .filteredOn(child -> child.info().commandLine().orElse("").contains("" + directory))
        .noneMatch(Child::isRunning);
    assertThat(server.holderToken("orders/42")).isEmpty();
  }

  private void awaitFile(String name) {
    await(name).until(() -> Files.exists(directory.resolve(name)));
  }

  private int run(String script, String... options) {
    List<String> args = new ArrayList<>(List.of("orders/42"));
    args.addAll(List.of(options));
    args.addAll(List.of("--", "sh", "-c", "cd '" + directory + "'; " + script));
    return execute(args.toArray(String[]::new));
  }

  private CompletableFuture<Integer> runInBackground(String script, String... options) {
    return CompletableFuture.supplyAsync(
        () -> run(script, options), task -> new Thread(task).start());
  }

  private ManagedChannel connect(String address) {
    return peer.filter(p -> address.equals("peer:2")).orElse(server).connect();
  }

  private int execute(String... args) {
    CommandLine line =
        new CommandLine(
                new RunCommand((options, client) -> client.channels(this::connect), watchdogs))
            .setErr(new PrintWriter(err));
    return Main.configured(line).execute(args);
  }
}
