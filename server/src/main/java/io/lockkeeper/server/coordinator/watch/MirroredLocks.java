package io.lockkeeper.server.coordinator.watch;

import io.lockkeeper.server.coordinator.api.CoordinatorClock;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.core.Kernel;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.LockName;
import java.util.List;

/** What watchers see comes from the core's mirror. On the event loop only. */
public final class MirroredLocks implements WatchHub.Locks {

  private final Kernel kernel;
  private final CoordinatorClock clock;

  public MirroredLocks(Kernel kernel, CoordinatorClock clock) {
    this.kernel = kernel;
    this.clock = clock;
  }

  @Override
  public List<LockName> names(WatchFilter filter) {
    return filter.names().isEmpty() ? kernel.names(filter.prefix()) : List.copyOf(filter.names());
  }

  @Override
  public LockView view(LockName lock) {
    return kernel.lock(lock, 0, clock.nanos());
  }

  @Override
  public long revision() {
    return kernel.revision();
  }

  @Override
  public void describeChanges(boolean describe) {
    kernel.describeChanges(describe);
  }
}
