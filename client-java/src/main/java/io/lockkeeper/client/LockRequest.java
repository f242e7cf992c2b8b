package io.lockkeeper.client;

import io.lockkeeper.client.internal.LockNames;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What to ask for: one exclusive lock, and how. Immutable; every method returns a changed copy.
 *
 * <pre>{@code
 * LockRequest.of("orders/42").waitAtMost(Duration.ofSeconds(5)).listener(listener)
 * }</pre>
 */
public final class LockRequest {

  static final Duration LONGEST_WAIT = Duration.ofDays(7);

  private final String name;
  private final Optional<Duration> waitLimit;
  private final Optional<String> holder;
  private final Map<String, String> metadata;
  private final Optional<Duration> positionInterval;
  private final LockListener listener;

  private LockRequest(
      String name,
      Optional<Duration> waitLimit,
      Optional<String> holder,
      Map<String, String> metadata,
      Optional<Duration> positionInterval,
      LockListener listener) {
    this.name = name;
    this.waitLimit = waitLimit;
    this.holder = holder;
    this.metadata = metadata;
    this.positionInterval = positionInterval;
    this.listener = listener;
  }

  /**
   * Returns a request for a lock that waits as long as it takes.
   *
   * @param name 1 to 512 bytes of UTF-8, no control characters, at most 16 segments separated by
   *     {@code /}, none empty, {@code .} or {@code ..}
   * @throws IllegalArgumentException if the name breaks these rules
   */
  public static LockRequest of(String name) {
    LockNames.fault(name)
        .ifPresent(
            fault -> {
              throw new IllegalArgumentException(fault);
            });
    return new LockRequest(
        name, Optional.empty(), Optional.empty(), Map.of(), Optional.empty(), LockListener.NONE);
  }

  /**
   * Waits for at most {@code limit}, zero (take the lock only if it is free) to 7 days.
   *
   * @throws IllegalArgumentException if it is out of range
   */
  public LockRequest waitAtMost(Duration limit) {
    if (limit.isNegative() || limit.compareTo(LONGEST_WAIT) > 0) {
      throw new IllegalArgumentException("a wait limit is zero to 7 days, not " + limit);
    }
    return new LockRequest(name, Optional.of(limit), holder, metadata, positionInterval, listener);
  }

  /** Says who asks, for people: up to 256 bytes of UTF-8. Default: the client's holder. */
  public LockRequest holder(String who) {
    return new LockRequest(name, waitLimit, Optional.of(who), metadata, positionInterval, listener);
  }

  /** Adds an entry for those who wait to see. Up to 32 entries, 4 KiB in all. */
  public LockRequest metadata(String key, String value) {
    Map<String, String> more = new HashMap<>(metadata);
    more.put(key, value);
    return new LockRequest(name, waitLimit, holder, Map.copyOf(more), positionInterval, listener);
  }

  /**
   * Calls {@link LockListener#onQueued} when the place changes, this often at most: 100 ms to 1 h.
   */
  public LockRequest reportPositionEvery(Duration interval) {
    return new LockRequest(name, waitLimit, holder, metadata, Optional.of(interval), listener);
  }

  /** Tells {@code newListener} what happens. Default: nobody. */
  public LockRequest listener(LockListener newListener) {
    return new LockRequest(name, waitLimit, holder, metadata, positionInterval, newListener);
  }

  /** Returns the lock's name. */
  public String name() {
    return name;
  }

  /** Returns how long to wait at most; empty: as long as it takes. */
  public Optional<Duration> waitLimit() {
    return waitLimit;
  }

  /** Returns who asks; empty: the client's holder. */
  public Optional<String> holder() {
    return holder;
  }

  /** Returns what those who wait may see. */
  public Map<String, String> metadata() {
    return metadata;
  }

  /** Returns how often the place is told at most; empty: once. */
  public Optional<Duration> positionInterval() {
    return positionInterval;
  }

  /** Returns who is told what happens. */
  public LockListener listener() {
    return listener;
  }

  @Override
  public String toString() {
    return "LockRequest[" + name + "]";
  }
}
