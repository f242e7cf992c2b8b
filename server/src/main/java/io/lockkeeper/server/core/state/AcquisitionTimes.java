package io.lockkeeper.server.core.state;

import java.util.OptionalLong;

/** When one acquisition came, was granted and ended here. Nothing is decided by it. */
public final class AcquisitionTimes {

  private static final long NEVER = Long.MIN_VALUE;

  private long cameAtNanos;
  private long grantedAtNanos = NEVER;
  private long heldUntilNanos = NEVER;

  /** It has come to this coordinator. */
  void came(long nowNanos) {
    cameAtNanos = nowNanos;
  }

  /** It is held from now on. */
  public void granted(long nowNanos) {
    grantedAtNanos = nowNanos;
  }

  /** It is held no more. */
  public void ended(long nowNanos) {
    heldUntilNanos = nowNanos;
  }

  /** Returns when it stopped to be held, if it has. */
  public OptionalLong heldUntilNanos() {
    return heldUntilNanos == NEVER ? OptionalLong.empty() : OptionalLong.of(heldUntilNanos);
  }

  /** Returns for how long it has waited by now. */
  public long waitedNanos(long nowNanos) {
    return nowNanos - cameAtNanos;
  }

  /** Returns for how long it waited before it was granted, if it was. */
  public OptionalLong waitedNanos() {
    return grantedAtNanos == NEVER
        ? OptionalLong.empty()
        : OptionalLong.of(grantedAtNanos - cameAtNanos);
  }

  /** Returns whether something that happened then happened while it waited. */
  public boolean waitedAt(long nanos) {
    return nanos - cameAtNanos >= 0;
  }

  /** Returns for how long it was held; empty where it never was, or still is. */
  public OptionalLong heldNanos() {
    return grantedAtNanos == NEVER || heldUntilNanos == NEVER
        ? OptionalLong.empty()
        : OptionalLong.of(heldUntilNanos - grantedAtNanos);
  }
}
