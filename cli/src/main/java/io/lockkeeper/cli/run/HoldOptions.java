package io.lockkeeper.cli.run;

import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.DurationConverter;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Which locks to hold, and how. */
final class HoldOptions {

  @Option(
      names = "--also",
      paramLabel = "LOCK",
      description =
          "Another lock, to be held together with the first and in the same mode; may be repeated, 63 times at most. All are"
              + " granted together or none, whatever order others name them in.")
  private List<String> more = List.of();

  @Option(
      names = "--mode",
      paramLabel = "exclusive|read|write",
      description =
          "How to hold the lock. exclusive: alone; read, write: reads share the lock, a write is alone. [default exclusive]")
  private Optional<HoldMode> mode = Optional.empty();

  @Option(
      names = "--permits",
      paramLabel = "COUNT",
      description =
          "Hold so many permits of the lock's limit instead, 1 to 1000000, all at once. [default: no permits, but --mode]")
  private Optional<Integer> permits = Optional.empty();

  @Option(
      names = "--limit",
      paramLabel = "COUNT",
      description =
          "How many permits the lock has in all, 1 to 1000000: the same for all who use it. [default: as \"lockkeeper limit\""
              + " has set it, or as those in the queue name it]")
  private Optional<Integer> limit = Optional.empty();

  @Option(
      names = "--max-hold",
      paramLabel = "DURATION",
      converter = DurationConverter.class,
      description =
          "How long the lock may be held, 100ms to 7d; then it counts as lost: see --on-lost. [default: as long as it takes]")
  private Optional<Duration> maxHold = Optional.empty();

  @Option(
      names = "--lock-delay",
      paramLabel = "DURATION",
      defaultValue = "0s",
      converter = DurationConverter.class,
      description =
          "How long nobody else gets the lock after this process has lost it rather than released it, 0s to 1h. [default"
              + " ${DEFAULT-VALUE}]")
  private Duration lockDelay = Duration.ZERO;

  /** How a lock is held that has no permits. */
  enum HoldMode {
    /** Alone. */
    EXCLUSIVE,
    /** Together with other reads. */
    READ,
    /** Alone among reads and writes. */
    WRITE
  }

  /**
   * Returns the request for the locks and those that go with them.
   *
   * @param locks one at least
   * @throws IllegalArgumentException if a name or a number breaks the rules
   * @throws CliException if options contradict each other
   */
  LockRequest request(List<String> locks) {
    if (permits.isPresent() && mode.isPresent()) {
      throw new CliException(ExitCodes.USAGE, "--permits: not together with --mode");
    }
    if (permits.isEmpty() && limit.isPresent()) {
      throw new CliException(ExitCodes.USAGE, "--limit: needs --permits as well");
    }
    maxHold.ifPresent(
        time ->
            DurationConverter.require(
                "--max-hold", time, Duration.ofMillis(100), Duration.ofDays(7)));
    DurationConverter.require("--lock-delay", lockDelay, Duration.ZERO, Duration.ofHours(1));
    List<String> names = new ArrayList<>(locks);
    names.addAll(more);
    LockRequest request =
        LockRequest.of(names.stream().map(this::spec).toList()).lockDelay(lockDelay);
    return maxHold.isPresent() ? request.maxHold(maxHold.get()) : request;
  }

  private LockSpec spec(String name) {
    if (permits.isPresent()) {
      return limit.isPresent()
          ? LockSpec.permits(name, permits.get(), limit.get())
          : LockSpec.permits(name, permits.get());
    }
    return switch (mode.orElse(HoldMode.EXCLUSIVE)) {
      case EXCLUSIVE -> LockSpec.exclusive(name);
      case READ -> LockSpec.read(name);
      case WRITE -> LockSpec.write(name);
    };
  }
}
