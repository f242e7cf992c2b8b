package io.lockkeeper.server.web;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.Occurrence;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.simulation.Wish;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/** Things that happen to acquisitions of one lock. */
final class Occurrences {

  private static final Notice GRANTED = new Notice.Granted(new LeaseId(1, 2), List.of(), 1);

  private Occurrences() {}

  private static AcquireCommand wanting(String lock) {
    return Wish.named("request").exclusive(lock).command(Optional.empty());
  }

  /** Returns something that nothing is measured of. */
  static Occurrence of(Notice notice, String lock) {
    return new Occurrence(
        new UUID(1, 2),
        wanting(lock),
        notice,
        HoldEnd.UNKNOWN,
        OptionalLong.empty(),
        OptionalLong.empty(),
        OptionalLong.empty(),
        Optional.empty());
  }

  /** Returns a grant after a wait. */
  static Occurrence granted(long waitedNanos, long handOffNanos, String lock) {
    return new Occurrence(
        new UUID(1, 2),
        wanting(lock),
        GRANTED,
        HoldEnd.UNKNOWN,
        OptionalLong.of(waitedNanos),
        OptionalLong.empty(),
        OptionalLong.of(handOffNanos),
        Optional.empty());
  }

  /** Returns the end of a hold. */
  static Occurrence ended(Notice notice, HoldEnd end, long heldNanos, String lock) {
    return new Occurrence(
        new UUID(1, 2),
        wanting(lock),
        notice,
        end,
        OptionalLong.empty(),
        OptionalLong.of(heldNanos),
        OptionalLong.empty(),
        Optional.empty());
  }
}
