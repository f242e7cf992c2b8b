package io.lockkeeper.cli.run;

import io.lockkeeper.cli.call.Me;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.DurationConverter;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClientBuilder;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** How long to wait for locks, as whom and what for. */
final class WaitOptions {

  private static final int MAX_EXIT_CODE = 255;
  private static final Duration USUAL_TTL = Duration.ofSeconds(15);

  @Option(
      names = {"-n", "--no-wait"},
      description = "Do not wait: only if it is free. The same as --wait 0s.")
  private boolean noWait;

  @Option(
      names = {"-w", "--wait"},
      paramLabel = "DURATION",
      converter = DurationConverter.OrSeconds.class,
      description =
          "How long to wait: 10 or 10s, 5m, 1h; 0s: only if it is free. [default: as long as it takes]")
  private Optional<Duration> wait = Optional.empty();

  @Option(
      names = {"-E", "--conflict-exit-code"},
      paramLabel = "CODE",
      description = "The exit code instead of 73, 0 to 255. [default: 73]")
  private int conflictExitCode = ExitCodes.NOT_ACQUIRED;

  @Option(
      names = "--ttl",
      paramLabel = "DURATION",
      converter = DurationConverter.class,
      description =
          "How long what is held outlives this process if it dies, 2s to 1h. [default: the server's, 15s]")
  private Optional<Duration> ttl = Optional.empty();

  @Option(
      names = "--holder",
      paramLabel = "WHO",
      description = "Who others see as the holder. [default: user@host]")
  private Optional<String> holder = Optional.empty();

  @Option(
      names = "--purpose",
      paramLabel = "TEXT",
      description = "What for: others who wait see it beside the holder. [default: none]")
  private Optional<String> purpose = Optional.empty();

  @Option(
      names = "--note",
      paramLabel = "TEXT",
      description = "What else others see of it, up to 4 KiB.")
  private Optional<String> note = Optional.empty();

  @Option(names = "--quiet", description = "Say nothing while waiting.")
  private boolean quiet;

  /**
   * Checks what can be checked without a server.
   *
   * @throws CliException if an option is out of its range, or options contradict each other
   */
  void check() {
    if (noWait && wait.isPresent()) {
      throw new CliException(ExitCodes.USAGE, "--no-wait: not together with --wait");
    }
    if (conflictExitCode < 0 || conflictExitCode > MAX_EXIT_CODE) {
      throw new CliException(
          ExitCodes.USAGE, "--conflict-exit-code: must be 0 to 255, is " + conflictExitCode);
    }
    ttl.ifPresent(
        time ->
            DurationConverter.require("--ttl", time, Duration.ofSeconds(2), Duration.ofHours(1)));
  }

  /**
   * Returns the request as these options have it.
   *
   * @throws IllegalArgumentException if a text is too long
   */
  LockRequest applyTo(LockRequest plain) {
    LockRequest request = plain;
    Optional<Duration> limit = noWait ? Optional.of(Duration.ZERO) : wait;
    if (limit.isPresent()) {
      request = request.waitAtMost(limit.get());
    }
    if (purpose.isPresent()) {
      request = request.metadata("purpose", purpose.get());
    }
    return note.isPresent() ? request.metadata("note", note.get()) : request;
  }

  /** Lets a client be known as these options have it. */
  LockkeeperClientBuilder applyTo(LockkeeperClientBuilder client) {
    ttl.ifPresent(client::ttl);
    return client.holder(holder.orElseGet(Me::atHost));
  }

  /** Returns how long what is held outlives this process, as far as is known without a server. */
  Duration likelyTtl() {
    return ttl.orElse(USUAL_TTL);
  }

  /** Returns the exit code where it was not acquired. */
  int conflictExitCode() {
    return conflictExitCode;
  }

  /** Returns whether nothing is said while waiting. */
  boolean isQuiet() {
    return quiet;
  }
}
