package io.lockkeeper.client;

import io.lockkeeper.client.internal.protocol.Limits;
import io.lockkeeper.client.internal.protocol.LockNames;

/**
 * One lock and how to hold it: a part of a {@link LockRequest}. What is out of range throws {@link
 * IllegalArgumentException}; the message names the part and its range.
 *
 * <p>A lock is of one family for as long as it is in use: the mutex ({@link LockMode#EXCLUSIVE}),
 * the read/write lock ({@link LockMode#READ} and {@link LockMode#WRITE}), the semaphore ({@link
 * LockMode#PERMITS}), or one that the server was extended with. A request of another family is
 * refused with a {@link RequestRefusedException} (FAILED_PRECONDITION) that names the family in
 * use.
 *
 * @param name the lock: 1 to 512 bytes of UTF-8, no control characters, at most 16 segments
 *     separated by {@code /}, none empty, {@code .} or {@code ..}
 * @param mode the kind of hold; not {@link LockMode#UNKNOWN}
 * @param permits how many permits, 1 to {@code limit}, or to 1,000,000 if that is zero; zero for
 *     other modes
 * @param limit how many permits the lock has in all, 1 to 1,000,000; zero: as it is configured, or
 *     as others in the queue have said; zero for other modes
 * @param custom the mode's name for {@link LockMode#CUSTOM}, 1 to 256 bytes of UTF-8; empty for
 *     other modes
 */
public record LockSpec(String name, LockMode mode, int permits, int limit, String custom) {

  /** Checks the parts. */
  public LockSpec {
    LockNames.fault(name)
        .ifPresent(
            fault -> {
              throw new IllegalArgumentException(fault);
            });
    boolean counts = mode == LockMode.PERMITS;
    boolean isCustom = mode == LockMode.CUSTOM;
    Limits.require(mode != LockMode.UNKNOWN, "mode", "a mode of a request", mode);
    if (counts) {
      Limits.require(limit >= 0 && limit <= Limits.MAX_PERMITS, "limit", "0 to 1,000,000", limit);
      int most = limit == 0 ? Limits.MAX_PERMITS : limit;
      Limits.require(permits >= 1 && permits <= most, "permits", "1 to " + most, permits);
    } else {
      Limits.require(permits == 0 && limit == 0, "permits", "of mode PERMITS", permits + limit);
    }
    Limits.label("custom", custom);
    Limits.require(
        isCustom != custom.isEmpty(),
        "custom",
        isCustom ? "the mode's name" : "of mode CUSTOM",
        "\"" + custom + "\"");
  }

  /** Returns the exclusive lock of that name. */
  public static LockSpec exclusive(String name) {
    return new LockSpec(name, LockMode.EXCLUSIVE, 0, 0, "");
  }

  /** Returns the reading side of a read/write lock. */
  public static LockSpec read(String name) {
    return new LockSpec(name, LockMode.READ, 0, 0, "");
  }

  /** Returns the writing side of a read/write lock. */
  public static LockSpec write(String name) {
    return new LockSpec(name, LockMode.WRITE, 0, 0, "");
  }

  /**
   * Returns permits of a semaphore whose limit is configured ({@link
   * LockkeeperClient#configureLock}), or known from others in its queue.
   *
   * @param permits how many, 1 to 1,000,000; taken all at once or not at all
   */
  public static LockSpec permits(String name, int permits) {
    return new LockSpec(name, LockMode.PERMITS, permits, 0, "");
  }

  /**
   * Returns permits of a semaphore, and says how many it has. All who use it must say the same; a
   * configured limit that differs is refused with FAILED_PRECONDITION.
   *
   * @param permits how many, 1 to {@code limit}; taken all at once or not at all
   * @param limit how many there are, 1 to 1,000,000
   */
  public static LockSpec permits(String name, int permits, int limit) {
    Limits.require(limit >= 1, "limit", "1 to 1,000,000", limit);
    return new LockSpec(name, LockMode.PERMITS, permits, limit, "");
  }

  /**
   * Returns a lock of a kind that the server was extended with.
   *
   * @param custom the mode, as that kind names it: 1 to 256 bytes of UTF-8
   */
  public static LockSpec custom(String name, String custom) {
    return new LockSpec(name, LockMode.CUSTOM, 0, 0, custom);
  }

  @Override
  public String toString() {
    return switch (mode) {
      case UNKNOWN, EXCLUSIVE -> name;
      case READ, WRITE -> name + " (" + mode + ")";
      case PERMITS -> name + " (" + permits + (limit == 0 ? "" : " of " + limit) + " permits)";
      case CUSTOM -> name + " (" + custom + ")";
    };
  }
}
