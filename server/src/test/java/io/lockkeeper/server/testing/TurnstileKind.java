package io.lockkeeper.server.testing;

import io.lockkeeper.server.core.Kind;
import io.lockkeeper.server.core.Mode;
import io.lockkeeper.server.core.Occupancy;
import java.util.Optional;

/**
 * A kind of lock that a server was extended with: one at a time, like the mutex, by its own name.
 */
public final class TurnstileKind implements Kind {

  /** Its only mode. */
  public static final Mode PASS = new Pass();

  private static final Kind KIND = new TurnstileKind();

  @Override
  public String name() {
    return "TURNSTILE";
  }

  @Override
  public Optional<Mode> parse(String marker) {
    return marker.equals(PASS.marker()) ? Optional.of(PASS) : Optional.empty();
  }

  private record Pass() implements Mode {
    @Override
    public Kind kind() {
      return KIND;
    }

    @Override
    public String marker() {
      return "turnstile-";
    }

    @Override
    public boolean joins(Occupancy ahead, int sequence) {
      return ahead.isFree();
    }

    @Override
    public String toString() {
      return "PASS";
    }
  }
}
