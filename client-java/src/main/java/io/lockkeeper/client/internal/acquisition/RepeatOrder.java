package io.lockkeeper.client.internal.acquisition;

/** The order in which acquisitions are repeated to the server of a new stream. */
enum RepeatOrder {
  /**
   * First what is held: its entry may be that of a request that is released, which must not be
   * released before it is known to be shared.
   */
  HOLD,
  /** Then what is to be released, so that no request of the same owner finds and shares it. */
  RELEASE,
  /** Then what is waited for. */
  REQUEST
}
