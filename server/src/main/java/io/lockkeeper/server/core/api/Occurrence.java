package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * Something that happened to an acquisition, as those see it who count and measure. Nothing is
 * decided by it.
 *
 * @param id the acquisition
 * @param command what it asked for
 * @param notice what happened; where it was lost with its session, that, whatever its client was
 *     told
 * @param end how it gave up what it held; {@code UNKNOWN} for what is no ending
 * @param waitedNanos for how long it had waited, for a grant and for an ending before one; empty
 *     where another coordinator served it before
 * @param heldNanos for how long it had been held, for the ending of a hold; empty where another
 *     coordinator granted it
 * @param handOffNanos how long before its grant the last holder had stopped to hold, for one that
 *     waited for that; empty where another coordinator served that holder
 * @param ended the hold that it ends, if it ends one and no other acquisition of its owner goes on
 *     holding what it held
 */
public record Occurrence(
    UUID id,
    AcquireCommand command,
    Notice notice,
    HoldEnd end,
    OptionalLong waitedNanos,
    OptionalLong heldNanos,
    OptionalLong handOffNanos,
    Optional<EndedHold> ended) {

  /**
   * A hold that has ended.
   *
   * @param lease its lease
   * @param holder who it was, human-readable
   * @param metadata what it said of itself
   * @param tokens the fencing tokens, in the order of the locks that the command wants
   * @param waitedNanos for how long it had waited before; empty where another coordinator granted
   *     it
   */
  public record EndedHold(
      LeaseId lease,
      String holder,
      Map<String, String> metadata,
      List<FencingToken> tokens,
      OptionalLong waitedNanos) {}

  /** Makes the ending of a request that was answered at once and became no acquisition. */
  public static Occurrence atOnce(UUID id, AcquireCommand command, Notice notice) {
    return new Occurrence(
        id,
        command,
        notice,
        HoldEnd.UNKNOWN,
        OptionalLong.of(0),
        OptionalLong.empty(),
        OptionalLong.empty(),
        Optional.empty());
  }
}
