package io.lockkeeper.client;

/** In which order acquisitions are told to the server of a new stream. */
enum Turn {
  /**
   * First what is held: it may be held by the entry of a request that is released, which must not
   * be released before it is known to be shared.
   */
  HOLD,
  /** Then what is to be released, lest a request of the same owner finds it and shares it. */
  RELEASE,
  /** Then what is waited for. */
  REQUEST
}
