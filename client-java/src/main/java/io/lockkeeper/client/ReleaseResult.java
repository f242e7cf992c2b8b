package io.lockkeeper.client;

/**
 * What a release did.
 *
 * @param outcome what it did
 * @param remainingHolds after {@link Outcome#DECREMENTED}: how many acquisitions of the owner still
 *     hold the locks; else zero
 */
public record ReleaseResult(Outcome outcome, int remainingHolds) {

  /** What a release did. */
  public enum Outcome {
    /** The locks were held and are released. */
    RELEASED,
    /** One level of a reentrant hold was given back; the owner still holds the locks. */
    DECREMENTED,
    /** The server had ended the acquisition before: the release was sent twice, perhaps. */
    ALREADY_RELEASED,
    /** The locks were lost, or their lease ended, before a server confirmed the release. */
    LOST
  }
}
