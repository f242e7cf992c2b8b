package io.lockkeeper.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonParser;
import io.lockkeeper.cli.Main;
import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.client.Leadership;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperClientBuilder;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.io.FilterWriter;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class HoldAndElectTest {

  @AutoClose private final InMemoryLockkeeper server = InMemoryLockkeeper.start();
  private final Output out = new Output();
  private final StringWriter err = new StringWriter();
  private final PipedOutputStream typed = new PipedOutputStream();
  private final PipedInputStream input;

  HoldAndElectTest() throws IOException {
    input = new PipedInputStream(typed);
  }

  private LockkeeperClientBuilder connect(ServerOptions options, LockkeeperClientBuilder client) {
    return client.channels(address -> server.connect());
  }

  private CompletableFuture<Integer> start(Object command, String... args) {
    CommandLine line =
        Main.configured(
            new CommandLine(command).setOut(new PrintWriter(out)).setErr(new PrintWriter(err)));
    return CompletableFuture.supplyAsync(
        () -> line.execute(args), task -> new Thread(task).start());
  }

  private CompletableFuture<Integer> hold(String... args) {
    return start(new HoldCommand(this::connect, () -> Optional.of(input)), args);
  }

  private CompletableFuture<Integer> elect(String... args) {
    return start(new ElectCommand(this::connect, () -> Optional.of(input)), args);
  }

  private void awaitOut(String text) {
    await().until(() -> out.toString().contains(text));
  }

  @Test
  void locksAreHeldTogetherUntilTheInputEnds() throws Exception {
    // Given
    CompletableFuture<Integer> exitCode = hold("a", "b");
    awaitOut("holding b, token ");
    try (LockkeeperClient other = server.clientBuilder().build()) {
      boolean taken = other.tryLock("a").isEmpty() && other.tryLock("b").isEmpty();
      // When
      typed.close();
      // Then
      assertThat(exitCode.join()).isZero();
      assertThat(taken).isTrue();
      assertThat(out.toString()).contains("holding a, token ", "released a", "released b");
      assertThat(other.tryLock("a")).isPresent();
    }
  }

  @Test
  void lostLockEndsTheHoldWithTheExitCodeForThat() {
    // Given
    CompletableFuture<Integer> exitCode = hold("a");
    awaitOut("holding a");
    // When
    server.removeHolder("a");
    // Then
    assertThat(exitCode.join()).isEqualTo(ExitCodes.LOST);
    assertThat(out.toString()).contains("the lock is lost (REMOVED)").doesNotContain("released");
  }

  @Test
  void lossThatCannotBePrintedIsALossAllTheSame() {
    // Given
    CompletableFuture<Integer> exitCode = hold("a");
    awaitOut("holding a");
    // When
    out.breakDown();
    server.removeHolder("a");
    // Then
    assertThat(exitCode.join()).isEqualTo(ExitCodes.LOST);
  }

  @Test
  void releaseThatNoServerConfirmsIsSaidToBeThat() throws Exception {
    // Given
    CompletableFuture<Integer> exitCode = hold("a", "--ttl", "6s");
    awaitOut("holding a");
    // When
    server.freeze();
    typed.close();
    // Then
    assertThat(exitCode.join()).isZero();
    assertThat(out.toString()).contains("released a, which no server has confirmed");
  }

  @Test
  void whatHappensIsPrintedAsJson() throws Exception {
    // Given
    CompletableFuture<Integer> exitCode = hold("a", "--json");
    awaitOut("granted");
    // When
    server.requestRelease("a", "bob@ci", "maintenance");
    awaitOut("release_requested");
    typed.close();
    // Then
    assertThat(exitCode.join()).isZero();
    assertThat(
            out.toString()
                .lines()
                .map(line -> JsonParser.parseString(line).getAsJsonObject().get("event")))
        .extracting(Object::toString)
        .containsExactly("\"granted\"", "\"release_requested\"", "\"released\"");
    assertThat(out.toString()).contains("\"fencingToken\":\"", "\"requester\":\"bob@ci");
  }

  @Test
  void takenLockIsNotWaitedForWhenToldSo() throws Exception {
    // Given
    try (LockkeeperClient other = server.clientBuilder().holder("alice@ci").build();
        LockHandle held = other.lock("a")) {
      // When
      int usual = hold("a", "-n").join();
      int own = hold("a", "--no-wait", "-E", "9").join();
      // Then
      assertThat(held.isValid()).isTrue();
      assertThat(usual).isEqualTo(ExitCodes.NOT_ACQUIRED);
      assertThat(own).isEqualTo(9);
      assertThat(err.toString()).contains("held by alice@ci");
    }
  }

  @Test
  void purposeOfTheHolderIsSaidToThoseWhoWait() throws Exception {
    // Given
    CompletableFuture<Integer> first = hold("a", "--purpose", "nightly release", "--holder", "al");
    awaitOut("holding a");
    // When
    int waiting =
        start(new HoldCommand(this::connect, () -> Optional.of(input)), "a", "-w", "0.5").join();
    typed.close();
    // Then
    assertThat(waiting).isEqualTo(ExitCodes.NOT_ACQUIRED);
    assertThat(err.toString()).containsPattern("1 ahead, held by al for .*s \\(nightly release\\)");
    assertThat(first.join()).isZero();
  }

  @Test
  void candidateWaitsForTheLeaderOfAClientAndLeadsAfterIt() throws Exception {
    // Given
    try (LockkeeperClient other = server.clientBuilder().holder("alice@ci").build()) {
      Leadership leader = other.asElection("reports").campaign("http://a");
      CompletableFuture<Integer> exitCode = elect("reports", "--value", "http://b");
      await().until(() -> err.toString().contains("waiting to lead reports, 1 ahead, led by"));
      // When
      leader.resign();
      awaitOut("leading reports, token ");
      var seen = other.asElection("reports").leader().toCompletableFuture().join();
      typed.close();
      // Then
      assertThat(exitCode.join()).isZero();
      assertThat(seen.orElseThrow().value()).isEqualTo("http://b");
      assertThat(out.toString()).contains("resigned from reports");
    }
  }

  @Test
  void commandOfTheLeaderRunsAndItsExitCodeIsOurs() {
    // When
    int exitCode =
        elect("reports", "--", "sh", "-c", "test $LOCKKEEPER_LOCK = reports && exit 7").join();
    // Then
    assertThat(exitCode).isEqualTo(7);
  }

  @Test
  void benchMeasuresAndLeavesNothingBehind() throws Exception {
    // When
    int exitCode = start(new BenchCommand(this::connect), "-c", "1", "-d", "100ms").join();
    String words = out.toString();
    int exitCodeWithJson =
        start(new BenchCommand(this::connect), "-c", "2", "-d", "100ms", "--locks", "1", "--json")
            .join();
    // Then
    assertThat(err.toString()).isEmpty();
    assertThat(exitCode).isZero();
    assertThat(words).contains("by 1 clients: ", " a second", "99 % ");
    assertThat(exitCodeWithJson).isZero();
    var result = JsonParser.parseString(out.toString().substring(words.length())).getAsJsonObject();
    assertThat(result.get("acquired").getAsLong()).isPositive();
    assertThat(result.get("p50Micros").getAsLong()).isPositive();
    try (LockkeeperClient other = server.clientBuilder().build()) {
      assertThat(other.listLocks("bench/")).isEmpty();
    }
  }

  /** Keeps what is printed, until it breaks down, as a full disk does. */
  private static final class Output extends FilterWriter {

    private volatile boolean broken;

    Output() {
      super(new StringWriter());
    }

    void breakDown() {
      broken = true;
    }

    @Override
    public void write(String text, int offset, int length) throws IOException {
      if (broken) {
        throw new IOException("No space left on device");
      }
      super.write(text, offset, length);
    }

    @Override
    public String toString() {
      return out.toString();
    }
  }
}
