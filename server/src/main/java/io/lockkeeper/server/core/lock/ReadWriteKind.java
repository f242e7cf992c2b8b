package io.lockkeeper.server.core.lock;

import java.util.Optional;

/**
 * The read/write lock: reads share, writes exclude. Its entries are named as Curator's
 * InterProcessReadWriteLock does.
 */
public final class ReadWriteKind implements Kind {

  /** Shared with other reads. */
  public static final Mode READ = new ReadMode();

  /** Excludes reads and writes. */
  public static final Mode WRITE = new WriteMode();

  private static final Kind KIND = new ReadWriteKind();

  @Override
  public String name() {
    return "READ_WRITE";
  }

  @Override
  public Optional<Mode> parse(String marker) {
    if (marker.equals(READ.marker())) {
      return Optional.of(READ);
    }
    return marker.equals(WRITE.marker()) ? Optional.of(WRITE) : Optional.empty();
  }

  private record ReadMode() implements Mode {
    @Override
    public Kind kind() {
      return KIND;
    }

    @Override
    public String marker() {
      return "__READ__";
    }

    @Override
    public boolean joins(Occupancy ahead) {
      return ahead.all(ReadMode.class::isInstance);
    }

    @Override
    public String toString() {
      return "READ";
    }
  }

  private record WriteMode() implements Mode {
    @Override
    public Kind kind() {
      return KIND;
    }

    @Override
    public String marker() {
      return "__WRIT__";
    }

    @Override
    public boolean joins(Occupancy ahead) {
      return ahead.isFree();
    }

    @Override
    public String toString() {
      return "WRITE";
    }
  }
}
