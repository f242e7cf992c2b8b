package io.lockkeeper.client.testing;

import io.lockkeeper.client.internal.Loop;
import io.lockkeeper.v1.LeaseEndReason;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** A lease of the in-memory server. */
final class FakeLease {

  private static final int TAG_DIGITS = 16;

  final String id = UUID.randomUUID().toString().replace("-", "");
  final String secret = UUID.randomUUID().toString();
  final String holder;
  final long ttlNanos;
  final boolean streamBound;
  final Map<String, FakeAcquisition> acquisitions = new LinkedHashMap<>();
  Optional<FakeSession> session = Optional.empty();
  Optional<Loop.Timer> expiry = Optional.empty();
  Optional<LeaseEndReason> end = Optional.empty();
  long renewedAtNanos;

  /** The server that has it; the others ask that one. */
  FakeNode home;

  /** Whether the server that opened it has died. */
  boolean adopted;

  FakeLease(FakeNode home, String holder, long ttlNanos, boolean streamBound) {
    this.home = home;
    this.holder = holder;
    this.ttlNanos = ttlNanos;
    this.streamBound = streamBound;
  }

  /** Returns the public short name. */
  String tag() {
    return id.substring(0, TAG_DIGITS);
  }
}
