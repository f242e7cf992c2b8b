package io.lockkeeper.server.coordinator.serial;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls those who listen to the coordinator from its event loop. They have no part in the core's
 * state, and the core has changed as a whole before anybody is called. So an exception of theirs is
 * theirs alone, and must end neither the service of others nor the process. An {@link Error} (no
 * memory, no classes) is nobody's own, and passes.
 */
public final class Listeners {

  private static final Logger LOG = LoggerFactory.getLogger(Listeners.class);

  private Listeners() {}

  /** Calls a listener; returns whether it took that without an exception. */
  public static boolean tell(Runnable word) {
    try {
      word.run();
      return true;
    } catch (RuntimeException e) {
      LOG.atError().setCause(e).log("a listener failed");
      return false;
    }
  }
}
