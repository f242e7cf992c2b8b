package io.lockkeeper.server.coordinator.serial;

import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.Failure;
import java.util.function.Consumer;

/**
 * A task on whose outcome somebody waits.
 *
 * @param task what to run
 * @param refuse who is told why if it is never run
 */
public record AwaitedTask(Runnable task, Consumer<RefusedException> refuse)
    implements EventLoop.Awaited {

  /** Returns the refusal of what nobody will ever do. */
  public static RefusedException over() {
    return new RefusedException(
        new Failure(
            Failure.Reason.LEAVING,
            "this coordinator has ended: it is not certain what became of the request;"
                + " send it again, here when it is back or elsewhere"));
  }

  @Override
  public void run() {
    task.run();
  }

  @Override
  public void onDropped() {
    refuse.accept(over());
  }
}
