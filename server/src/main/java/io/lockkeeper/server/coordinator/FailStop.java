package io.lockkeeper.server.coordinator;

import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says why the coordinator fails for good, and has its process ended. */
final class FailStop {

  private static final Logger LOG = LoggerFactory.getLogger(FailStop.class);

  private final Consumer<Breakdown> onBreakdown;

  FailStop(Consumer<Breakdown> onBreakdown) {
    this.onBreakdown = onBreakdown;
  }

  /** The loop makes no progress. */
  void onHang() {
    onBreakdown.accept(Breakdown.HANGING);
  }

  /** Something was thrown in the middle of a change. */
  void onThrown(Throwable thrown) {
    try {
      if (thrown instanceof FailedStepException failed) {
        log(failed.step(), failed.thrown());
      } else {
        log("between two events", thrown);
      }
    } finally {
      // Also where there is no memory to log with.
      onBreakdown.accept(Breakdown.STATE_IN_DOUBT);
    }
  }

  private static void log(String step, Throwable cause) {
    LOG.atError()
        .addKeyValue("step", step)
        .setCause(cause)
        .log("the coordinator's state is in doubt: it does nothing more, and must end");
  }
}
