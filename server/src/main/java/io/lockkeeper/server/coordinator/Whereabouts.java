package io.lockkeeper.server.coordinator;

/** Who serves a lease. */
public sealed interface Whereabouts {

  /** This coordinator does, or is about to. */
  record Here() implements Whereabouts {}

  /**
   * Another coordinator does.
   *
   * @param peer which one
   */
  record At(Peer peer) implements Whereabouts {}

  /**
   * Nobody does at the moment: the coordinator that did has gone, and its session is about to be
   * adopted or to expire.
   */
  record Nowhere() implements Whereabouts {}

  /** There is no such lease; certain as of after the question. */
  record Unknown() implements Whereabouts {}
}
