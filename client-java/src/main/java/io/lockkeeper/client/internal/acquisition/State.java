package io.lockkeeper.client.internal.acquisition;

/** Where an {@link Acquisition} stands. */
enum State {
  /** Not sent under the present lease, or refused for the moment: no server knows of it. */
  PENDING,
  /** Sent, and sent again after a resume until granted. */
  SENT,
  HELD,
  /** Released or given up; the release is sent until it is certain. */
  RELEASING,
  ENDED
}
