package io.lockkeeper.server.core.state;

import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.RevocationRequest;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** What an acquisition says of itself to others, and what it was asked. */
public final class AcquisitionDescription {

  private Map<String, String> metadata;
  private Optional<Long> neededUntilNanos = Optional.empty();
  private Optional<Asked> asked = Optional.empty();

  AcquisitionDescription(Map<String, String> metadata) {
    this.metadata = Map.copyOf(metadata);
  }

  /**
   * A wish to give way that the holder was told.
   *
   * @param ask the wish
   * @param lock the lock
   * @param atNanos when it was told
   */
  public record Asked(RevocationRequest ask, LockName lock, long atNanos) {

    /** Returns the wish as it is told at another time. */
    public Notice.ReleaseRequested notice(long nowNanos) {
      return new Notice.ReleaseRequested(
          lock,
          ask.requester(),
          ask.reason(),
          ask.deadline().map(deadline -> Math.max(0, deadline.toNanos() - (nowNanos - atNanos))));
    }
  }

  public Map<String, String> metadata() {
    return metadata;
  }

  public void metadata(Map<String, String> value) {
    metadata = Map.copyOf(value);
  }

  /** Answers a wish to give way. */
  public void needs(Duration needs, long nowNanos) {
    neededUntilNanos = Optional.of(nowNanos + needs.toNanos());
  }

  /** Returns for how much longer the holder needs its locks, if it has said so. */
  Optional<Long> needsNanos(long nowNanos) {
    return neededUntilNanos.map(until -> Math.max(0, until - nowNanos));
  }

  /** Returns the newest wish to give way. */
  public Optional<Asked> asked() {
    return asked;
  }

  public void asked(Asked wish) {
    asked = Optional.of(wish);
  }
}
