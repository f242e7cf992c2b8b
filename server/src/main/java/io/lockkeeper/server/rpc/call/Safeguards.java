package io.lockkeeper.server.rpc.call;

/**
 * What a server counts and watches of itself while it is under attack.
 *
 * @param refusals what was refused at its limits
 * @param alarm whether it ran out of memory
 */
public record Safeguards(RefusalCounts refusals, MemoryAlarm alarm) {

  /** Makes safeguards that have seen nothing. */
  public Safeguards() {
    this(new RefusalCounts(), new MemoryAlarm());
  }
}
