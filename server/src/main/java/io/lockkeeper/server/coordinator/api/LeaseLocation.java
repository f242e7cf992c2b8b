package io.lockkeeper.server.coordinator.api;

/** Who serves a lease. */
public sealed interface LeaseLocation {

  /** This coordinator does, or is about to. */
  record Here() implements LeaseLocation {}

  /**
   * Another coordinator does.
   *
   * @param peer which one
   */
  record At(Peer peer) implements LeaseLocation {}

  /**
   * Nobody does at the moment: the coordinator that did has gone, and its session is about to be
   * adopted or to expire.
   */
  record Nowhere() implements LeaseLocation {}

  /** There is no such lease; certain as of after the question. */
  record Unknown() implements LeaseLocation {}
}
