package io.lockkeeper.server.core.lock;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * What an entry says of itself: the data of its znode.
 *
 * @param leaseId the lease's whole id in text, empty if not ours
 * @param requestId the acquisition's name, empty if not ours
 * @param owner the owner inside the lease, may be empty
 * @param holder who it is, human-readable
 * @param metadata what the contender says of itself
 * @param streamBound whether the lease is a stream, and so ends with its coordinator
 * @param unsearched whether it is left out of the search for cycles of waits
 * @param needsMillis for how much longer the holder needs the lock, as of when it was written, if
 *     it has answered to a wish to give way; seven days at most
 * @param ask the newest wish to give way, if the entry carries one
 * @param terms the terms of the acquisition that it is for
 */
public record EntryDetails(
    String leaseId,
    String requestId,
    String owner,
    String holder,
    Map<String, String> metadata,
    boolean streamBound,
    boolean unsearched,
    Optional<Long> needsMillis,
    Optional<RevocationRequest> ask,
    EntryTerms terms) {

  private static final long LONGEST_NEED_MILLIS = Duration.ofDays(7).toMillis();

  /** Copies the metadata, and cuts what a holder cannot have answered: others write entries too. */
  public EntryDetails {
    metadata = Map.copyOf(metadata);
    needsMillis = needsMillis.map(millis -> Math.min(millis, LONGEST_NEED_MILLIS));
  }

  /** Makes the details of an entry on plain terms. */
  public EntryDetails(
      String leaseId,
      String requestId,
      String owner,
      String holder,
      Map<String, String> metadata,
      boolean streamBound,
      boolean unsearched,
      Optional<Long> needsMillis,
      Optional<RevocationRequest> ask) {
    this(
        leaseId,
        requestId,
        owner,
        holder,
        metadata,
        streamBound,
        unsearched,
        needsMillis,
        ask,
        EntryTerms.PLAIN);
  }

  /** Returns what an entry says that is not ours. */
  public static EntryDetails foreign(String holder, Optional<RevocationRequest> ask) {
    return new EntryDetails("", "", "", holder, Map.of(), false, true, Optional.empty(), ask);
  }
}
