package io.lockkeeper.integration.chaos;

import io.lockkeeper.client.LockSpec;
import java.time.Duration;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * What a client does next: which lock it asks for, how long it waits and holds, and how long it
 * rests afterwards. The Python client does the same.
 *
 * @param lock what to ask for
 * @param waitLimit how long to wait; empty: as long as it takes
 * @param holdMillis how long to hold
 * @param stepMillis how long between two increments while holding
 * @param restMillis how long to do nothing afterwards
 */
record Work(
    LockSpec lock,
    Optional<Duration> waitLimit,
    long holdMillis,
    long stepMillis,
    long restMillis) {

  /** Draws the work of client {@code index}: every third holds for long. */
  static Work draw(int index, SplittableRandom random) {
    return switch (index % 3) {
      case 0 -> longHold(random);
      case 1 -> quick(random);
      default -> shared(random);
    };
  }

  private static Work longHold(SplittableRandom random) {
    LockSpec lock = LockSpec.exclusive("chaos/long/" + random.nextInt(16));
    long hold = random.nextLong(1_000, 12_000);
    return new Work(lock, Optional.empty(), hold, 400, random.nextLong(100, 1_000));
  }

  private static Work quick(SplittableRandom random) {
    LockSpec lock = LockSpec.exclusive("chaos/hot/" + random.nextInt(4));
    Optional<Duration> limit =
        random.nextInt(4) == 0
            ? Optional.of(Duration.ofMillis(random.nextLong(1, 1_500)))
            : Optional.empty();
    return new Work(lock, limit, random.nextLong(1, 60), 20, random.nextLong(20, 250));
  }

  private static Work shared(SplittableRandom random) {
    String name = "chaos/shared/" + random.nextInt(3);
    LockSpec lock = random.nextInt(3) == 0 ? LockSpec.write(name) : LockSpec.read(name);
    return new Work(lock, Optional.empty(), random.nextLong(5, 800), 50, random.nextLong(50, 500));
  }

  /** Returns the kind of hold, as the checker names it. */
  String mode() {
    return switch (lock.mode()) {
      case READ -> "read";
      case WRITE -> "write";
      default -> "exclusive";
    };
  }
}
