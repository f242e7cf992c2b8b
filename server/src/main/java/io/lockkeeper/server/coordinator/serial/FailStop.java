package io.lockkeeper.server.coordinator.serial;

import io.lockkeeper.server.coordinator.api.FatalFailure;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says why the coordinator fails for good, and has its process ended. */
public final class FailStop {

  private static final Logger LOG = LoggerFactory.getLogger(FailStop.class);

  private final Consumer<FatalFailure> onBreakdown;

  public FailStop(Consumer<FatalFailure> onBreakdown) {
    this.onBreakdown = onBreakdown;
  }

  /** The loop makes no progress. */
  public void onHang() {
    onBreakdown.accept(FatalFailure.HANGING);
  }

  /** Something was thrown in the middle of a change. */
  public void onThrown(Throwable thrown) {
    try {
      if (thrown instanceof FailedStepException failed) {
        log(failed.step(), failed.thrown());
      } else {
        log("between two events", thrown);
      }
    } finally {
      // Also where there is no memory to log with.
      onBreakdown.accept(FatalFailure.STATE_IN_DOUBT);
    }
  }

  private static void log(String step, Throwable cause) {
    LOG.atError()
        .addKeyValue("step", step)
        .setCause(cause)
        .log("the coordinator's state is in doubt: it does nothing more, and must end");
  }
}
