package io.lockkeeper.client.internal.acquisition;

import io.lockkeeper.client.LossReason;

/** Has what an acquisition holds used by several, one after the other. Told on the loop. */
public interface Keeper {

  /** Somebody else wants the locks, or they may be lost soon: they are not to be kept. */
  void onWanted();

  /** The locks are lost. */
  void onLost(LossReason reason);
}
