package io.lockkeeper.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.client.LossReason;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LockedRunTest {

  private static final Duration NEVER = Duration.ofMinutes(10);
  private static final String STUBBORN =
      "trap '' TERM; touch ready; while :; do read -r x < pipe; done";
  private static final String GENTLE =
      "trap 'touch tidied; exit 3' TERM; touch ready; while :; do read -r x < pipe; done";

  @TempDir private Path directory;
  private final FakeHandle handle = new FakeHandle();
  private final StringWriter err = new StringWriter();
  private Child child;

  @AfterEach
  void killLeftovers() {
    if (child != null) {
      child.kill();
    }
  }

  @Test
  void commandKilledByASignalExitsLikeInAShell() {
    // Given
    LockedRun run = start("kill -TERM $$", OnLost.TERM, NEVER);
    // When // Then
    assertThat(run.await(handle)).isEqualTo(128 + 15);
  }

  @Test
  void commandIsToldToEndBeforeTheDeadlineAndKilledAtIt() {
    // Given
    LockedRun run = start(STUBBORN, OnLost.TERM, NEVER);
    awaitReady();
    // When
    run.onAboutToExpire(Duration.ofSeconds(5));
    run.onLost(LossReason.DEADLINE_PASSED);
    // Then
    assertThat(run.await(handle)).isEqualTo(ExitCodes.LOST);
    assertThat(err.toString())
        .contains("no word from the server", "TERM now", "killing the command");
  }

  @ParameterizedTest
  @EnumSource(names = {"DEADLINE_PASSED", "MAX_HOLD"})
  void deadlineThatNobodyAnnouncedKillsTheCommandAtOnce(LossReason reason) {
    // Given
    LockedRun run = start(GENTLE, OnLost.TERM, NEVER);
    awaitReady();
    // When
    run.onLost(reason);
    // Then
    assertThat(run.await(handle)).isEqualTo(ExitCodes.LOST);
    assertThat(child.exit().join()).isEqualTo(128 + 9);
    assertThat(directory.resolve("tidied")).doesNotExist();
  }

  @Test
  void commandThatIgnoresTermIsKilledAfterAWhile() {
    // Given
    LockedRun run = start(STUBBORN, OnLost.TERM, Duration.ofMillis(300));
    awaitReady();
    // When
    run.onLost(LossReason.LEASE_EXPIRED);
    // Then
    assertThat(run.await(handle)).isEqualTo(ExitCodes.LOST);
  }

  @Test
  void killSendsNoTermFirst() {
    // Given
    LockedRun run = start(GENTLE, OnLost.KILL, NEVER);
    awaitReady();
    // When
    run.onAboutToExpire(Duration.ofSeconds(5));
    run.onLost(LossReason.DEADLINE_PASSED);
    // Then
    assertThat(run.await(handle)).isEqualTo(ExitCodes.LOST);
    assertThat(directory.resolve("tidied")).doesNotExist();
  }

  @Test
  void ignoredLossLetsTheCommandFinish() {
    // Given
    LockedRun run = start("read -r x < pipe; exit 4", OnLost.IGNORE, NEVER);
    // When
    run.onAboutToExpire(Duration.ofSeconds(5));
    run.onLost(LossReason.DEADLINE_PASSED);
    writeToPipe();
    // Then
    assertThat(run.await(handle)).isEqualTo(4);
    assertThat(err.toString()).contains("goes on without it");
  }

  @Test
  void successUnderALockThatWasNotValidAnyMoreIsNoSuccess() {
    // Given
    LockedRun run = start("exit 0", OnLost.TERM, NEVER);
    handle.valid = false;
    // When // Then
    assertThat(run.await(handle)).isEqualTo(ExitCodes.LOST);
  }

  @Test
  void whatIgnoresTheOrderToEndIsKilledEvenIfTheCommandItselfHasGone() {
    // Given
    LockedRun run = start("(" + STUBBORN + "); true", OnLost.TERM, Duration.ofMillis(300));
    awaitReady();
    List<ProcessHandle> family = ProcessHandle.of(child.pid()).orElseThrow().descendants().toList();
    // When
    run.onAboutToExpire(Duration.ofSeconds(1));
    // Then
    assertThat(run.await(handle)).isEqualTo(ExitCodes.LOST);
    assertThat(family).isNotEmpty().noneMatch(Child::isRunning);
  }

  @Test
  void deadlineKillsWhatTheCommandHasLeftBehind() {
    // Given
    LockedRun run = start("(" + STUBBORN + "); true", OnLost.TERM, NEVER);
    awaitReady();
    List<ProcessHandle> family = ProcessHandle.of(child.pid()).orElseThrow().descendants().toList();
    run.onAboutToExpire(Duration.ofSeconds(1));
    child.exit().join();
    CompletableFuture<Integer> exitCode =
        CompletableFuture.supplyAsync(() -> run.await(handle), task -> new Thread(task).start());
    // When
    run.onLost(LossReason.DEADLINE_PASSED);
    // Then
    assertThat(exitCode.join()).isEqualTo(ExitCodes.LOST);
    assertThat(family).isNotEmpty().noneMatch(Child::isRunning);
  }

  @Test
  void fileThatIsNoProgramIsSaidLikeInAShell() {
    // When // Then
    assertThatExceptionOfType(CliException.class)
        .isThrownBy(() -> Child.start(List.of(directory.toString()), Map.of()))
        .withMessageContaining("Permission denied")
        .matches(e -> e.exitCode() == 126);
  }

  private LockedRun start(String script, OnLost onLost, Duration killAfter) {
    try {
      Process mkfifo = new ProcessBuilder("mkfifo", directory.resolve("pipe").toString()).start();
      assertThat(mkfifo.onExit().join().exitValue()).isZero();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
    child = Child.start(List.of("sh", "-c", "cd '" + directory + "'; " + script), Map.of());
    return new LockedRun(child, onLost, killAfter, line -> err.write(line + "\n"));
  }

  private void awaitReady() {
    await().until(() -> Files.exists(directory.resolve("ready")));
  }

  private void writeToPipe() {
    try {
      Files.writeString(directory.resolve("pipe"), "go\n", java.nio.file.StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
