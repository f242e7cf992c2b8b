package io.lockkeeper.server.core.lock;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The semaphore: several holders, each of some permits, within a limit. */
public final class PermitsKind implements Kind {

  /** The limit of a request that leaves it to the lock. */
  public static final int AS_CONFIGURED = 0;

  /** The largest limit. */
  public static final int MAX_LIMIT = 1_000_000;

  private static final Kind KIND = new PermitsKind();
  private static final Pattern MARKER =
      Pattern.compile("permit-(?<permits>[0-9]{1,7})-(?<limit>[0-9]{1,7})-");

  @Override
  public String name() {
    return "PERMITS";
  }

  @Override
  public Optional<Mode> parse(String marker) {
    if (!marker.startsWith("permit-")) {
      return Optional.empty();
    }
    Matcher matcher = MARKER.matcher(marker);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    int permits = Integer.parseInt(matcher.group("permits"));
    int limit = Integer.parseInt(matcher.group("limit"));
    return permits < 1 || permits > limit
        ? Optional.empty()
        : Optional.of(new Permits(permits, limit));
  }

  /**
   * Some permits of a limit.
   *
   * @param permits how many are held together, 1 to {@code limit}
   * @param limit how many there are in all, or {@link #AS_CONFIGURED}
   */
  public record Permits(int permits, int limit) implements Mode {

    /**
     * Checks the range.
     *
     * @throws IllegalArgumentException if permits is not 1 to limit
     */
    public Permits {
      if (permits < 1 || (limit != AS_CONFIGURED && permits > limit)) {
        throw new IllegalArgumentException(
            "permits must be 1 to limit (" + limit + "): " + permits);
      }
    }

    /** Returns the same permits of another limit. */
    public Permits of(int newLimit) {
      return new Permits(permits, newLimit);
    }

    @Override
    public Kind kind() {
      return KIND;
    }

    @Override
    public String marker() {
      return "permit-" + permits + "-" + limit + "-";
    }

    /**
     * The limit that was configured decides; without one, the smallest that this entry or one ahead
     * of it names.
     */
    @Override
    public boolean joins(Occupancy ahead) {
      int effective = ahead.configuredLimit().orElse(Math.min(limit, ahead.smallestCapacity()));
      return ahead.weight() + permits <= effective;
    }

    @Override
    public int weight() {
      return permits;
    }

    @Override
    public int capacity() {
      return limit;
    }

    /** Permits add up: each request takes its own. */
    @Override
    public boolean isReentrant() {
      return false;
    }

    @Override
    public String toString() {
      return permits + " of " + limit + " PERMITS";
    }
  }
}
