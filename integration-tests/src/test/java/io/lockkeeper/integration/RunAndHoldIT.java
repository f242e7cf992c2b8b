package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Jar;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.server.testing.Signals;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What {@code run} and {@code hold} make of signals, terminals, pipes and their own death. */
final class RunAndHoldIT {

  private static final File NOTHING = new File("/dev/null");

  /** A command whose background ignores the order to end, and which notes the ids of both. */
  private static final String STUBBORN =
      "(trap '' TERM; while :; do sleep 0.1; done) & echo $! $$ > ids.new; mv ids.new ids; wait";

  /** A command that counts INT, and ends on HUP. */
  private static final String COUNTING =
      "trap 'echo INT >> ints' INT; trap 'exit 7' HUP; touch ready; while :; do sleep 0.1; done";

  private static final int AFTER_THE_LOCK = 2;

  /** The exit code where no server answers within the program's own timeout. */
  private static final int UNAVAILABLE = 69;

  private final ManagedChannel channel = Rig.shared().connect();
  private final Path directory = Scratch.directory("run");
  private final Path output = directory.resolve("output");
  private ProcessBuilder builder;
  private Process process;

  @AfterEach
  void killLeftovers() throws IOException {
    if (process == null) {
      return; // it could not be started
    }
    family().forEach(ProcessHandle::destroyForcibly);
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  @Test
  void allThatTheCommandHasStartedEndsBeforeTheLockOfAKilledWrapperIsFree() throws IOException {
    // Given
    start(withTtl("10s", "run", "killed", "--kill-after", "10m", "--", "sh", "-c", STUBBORN));
    awaitFile("ids");
    List<ProcessHandle> family = family();
    // The command may be sooner than the word to the watchdog that it has begun.
    await().during(Duration.ofMillis(300)).until(process::isAlive);
    // When
    process.destroyForcibly();
    awaitFree("killed");
    // Then
    assertThat(family).hasSize(2).noneMatch(RunAndHoldIT::runs);
  }

  @Test
  void commandThatMayGoOnWithoutTheLockSurvivesItsWrapper() throws IOException {
    // Given
    start(withTtl("5s", "run", "ignored", "--on-lost", "ignore", "--", "sh", "-c", STUBBORN));
    awaitFile("ids");
    // When
    process.destroyForcibly();
    awaitFree("ignored");
    // Then
    assertThat(family()).hasSize(2);
  }

  @Test
  void allThatTheCommandHasStartedEndsBeforeTheLockIsFreeAfterASignal() throws IOException {
    // Given
    start(program("run", "told", "--kill-after", "1s", "--", "sh", "-c", STUBBORN));
    awaitFile("ids");
    List<ProcessHandle> family = family();
    // When
    process.destroy();
    // Then
    assertThat(exitCode()).isEqualTo(128 + 15);
    assertThat(family).hasSize(2).noneMatch(RunAndHoldIT::runs);
    assertThat(isFree("told")).isTrue();
  }

  @Test
  void interruptOfTheWrapperAloneReachesTheCommand() throws IOException {
    // Given
    List<String> command = counting("interrupted");
    command.add(0, "setsid"); // whose terminal, if there is one, is not ours
    start(command);
    awaitFile("ready");
    // When
    Signals.send(process.pid(), "INT");
    awaitFile("ints");
    Signals.send(process.pid(), "HUP");
    // Then
    assertThat(exitCode()).isEqualTo(7);
    assertThat(Files.readAllLines(directory.resolve("ints"))).hasSize(1);
  }

  @Test
  void interruptTypedAtATerminalReachesTheCommandOnce() throws IOException {
    // Given
    startOnTerminal("exec " + quoted(counting("typed")) + " 2>err");
    awaitFile("ready");
    // When
    OutputStream keys = process.getOutputStream();
    keys.write('\u0003');
    keys.flush();
    awaitFile("ints");
    Signals.send(wrapper(), "HUP");
    // Then
    assertThat(exitCode()).isEqualTo(7);
    assertThat(Files.readAllLines(directory.resolve("ints"))).hasSize(1);
  }

  @Test
  void holdInTheBackgroundOfATerminalGoesOnUntilItIsToldToEnd() throws IOException {
    // Given
    String hold = quoted(program("hold", "background"));
    startOnTerminal("set -m; " + hold + " > output & wait $!");
    awaitOutput("holding background");
    // When
    Signals.send(wrapper(), "TERM");
    // Then
    awaitOutput("released background");
    assertThat(isFree("background")).isTrue();
  }

  @Test
  void holdOfAServiceGoesOnUntilItIsToldToEnd() throws IOException {
    // Given
    start(program("hold", "service"));
    awaitOutput("holding service");
    boolean freeMeanwhile = isFree("service");
    // When
    process.destroy();
    // Then
    assertThat(exitCode()).isZero();
    assertThat(freeMeanwhile).isFalse();
    assertThat(Files.readString(output)).contains("released service");
  }

  @Test
  void holdEndsWhenNobodyReadsItsOutputAnyMore() throws IOException {
    // When
    String hold = quoted(program("hold", "piped"));
    start(List.of("bash", "-c", hold + " | head -1; exit ${PIPESTATUS[0]}"));
    // Then
    assertThat(exitCode()).isZero();
    assertThat(Files.readString(output)).contains("holding piped");
    assertThat(isFree("piped")).isTrue();
  }

  @Test
  void holdWhoseOutputIsLostFailsAndSaysWhy() throws IOException {
    // When
    start(List.of("sh", "-c", quoted(program("hold", "full")) + " > /dev/full"));
    // Then
    assertThat(exitCode()).isEqualTo(1);
    assertThat(Files.readString(output)).contains("standard output cannot be written");
    assertThat(isFree("full")).isTrue();
  }

  private static List<String> program(String... arguments) {
    return withTtl("30s", arguments);
  }

  private static List<String> withTtl(String ttl, String... arguments) {
    List<String> command = new ArrayList<>(Jar.command(List.of()));
    List<String> words = new ArrayList<>(List.of(arguments));
    words.addAll(
        AFTER_THE_LOCK, List.of("--ttl", ttl, "--server", Rig.shared().server().address()));
    command.addAll(words);
    return command;
  }

  /** Hears signals, even if those who started the tests do not, in the background of a shell. */
  private static List<String> counting(String lock) {
    List<String> command = new ArrayList<>(List.of("env", "--default-signal=INT,HUP"));
    command.addAll(program("run", lock, "--", "sh", "-c", COUNTING));
    return command;
  }

  private boolean isFree(String lock) {
    return Asking.holderTokens(channel, lock).isEmpty();
  }

  private void awaitFree(String lock) {
    await(lock + " is free").until(() -> isFree(lock));
  }

  private void start(List<String> command) throws IOException {
    builder = new ProcessBuilder(command).redirectInput(NOTHING).redirectOutput(output.toFile());
    process = builder.directory(directory.toFile()).redirectErrorStream(true).start();
  }

  /** Starts a shell's command on a terminal of its own; what is written to the process is typed. */
  private void startOnTerminal(String command) throws IOException {
    builder =
        new ProcessBuilder("script", "-qefc", command, "/dev/null")
            .redirectOutput(directory.resolve("terminal").toFile());
    builder.environment().put("SHELL", "/bin/bash"); // another may wait in between, and hear Ctrl-C
    process = builder.directory(directory.toFile()).redirectErrorStream(true).start();
  }

  private static String quoted(List<String> words) {
    return words.stream()
        .map(word -> "'" + word.replace("'", "'\\''") + "'")
        .collect(Collectors.joining(" "));
  }

  private int exitCode() {
    awaitSign("its end", () -> !process.isAlive());
    return process.exitValue();
  }

  /** Returns the Java process below the one that was started. */
  private long wrapper() {
    return process
        .descendants()
        .filter(handle -> handle.info().command().orElse("").endsWith("/java"))
        .findFirst()
        .orElseThrow()
        .pid();
  }

  /** Returns those processes of {@link #STUBBORN} that live. */
  private List<ProcessHandle> family() throws IOException {
    Path ids = directory.resolve("ids");
    return !Files.exists(ids)
        ? List.of()
        : Stream.of(Files.readString(ids).strip().split(" "))
            .flatMap(id -> ProcessHandle.of(Long.parseLong(id)).stream())
            .filter(RunAndHoldIT::runs)
            .toList();
  }

  /** One that has died counts as alive until its parent has asked after it, and runs nothing. */
  private static boolean runs(ProcessHandle handle) {
    return handle.info().command().isPresent();
  }

  private void awaitFile(String name) {
    awaitSign(name, () -> Files.exists(directory.resolve(name)));
  }

  private void awaitOutput(String text) {
    awaitSign(text, () -> Files.exists(output) && Files.readString(output).contains(text));
  }

  /** Waits, and starts the program again if the machine was too busy for the server to answer. */
  private void awaitSign(String what, Callable<Boolean> sign) {
    await(what)
        .until(
            () -> {
              if (!process.isAlive() && process.exitValue() == UNAVAILABLE) {
                process = builder.start();
              }
              return sign.call();
            });
  }
}
