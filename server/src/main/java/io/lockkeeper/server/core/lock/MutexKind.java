package io.lockkeeper.server.core.lock;

import java.util.Optional;

/** The mutex: one holder at a time. Its entries are named as Curator's InterProcessMutex does. */
public final class MutexKind implements Kind {

  /** The mutex's only mode. */
  public static final Mode EXCLUSIVE = new Exclusive();

  private static final Kind KIND = new MutexKind();

  @Override
  public String name() {
    return "MUTEX";
  }

  @Override
  public Optional<Mode> parse(String marker) {
    return marker.equals(EXCLUSIVE.marker()) ? Optional.of(EXCLUSIVE) : Optional.empty();
  }

  private record Exclusive() implements Mode {
    @Override
    public Kind kind() {
      return KIND;
    }

    @Override
    public String marker() {
      return "lock-";
    }

    @Override
    public boolean joins(Occupancy ahead) {
      return ahead.isFree();
    }

    @Override
    public String toString() {
      return "EXCLUSIVE";
    }
  }
}
