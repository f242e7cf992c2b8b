package io.lockkeeper.server.core;

import java.util.Map;

/**
 * What an entry says of itself: the data of its znode.
 *
 * @param leaseId the lease's whole id in text, empty if not ours
 * @param requestId the acquisition's name, empty if not ours
 * @param owner the owner inside the lease, may be empty
 * @param holder who it is, for people
 * @param metadata what the contender says of itself
 * @param streamBound whether the lease is a stream, and so ends with its coordinator
 */
public record EntryDetails(
    String leaseId,
    String requestId,
    String owner,
    String holder,
    Map<String, String> metadata,
    boolean streamBound) {

  /** Copies the metadata. */
  public EntryDetails {
    metadata = Map.copyOf(metadata);
  }
}
