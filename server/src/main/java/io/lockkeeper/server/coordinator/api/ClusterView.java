package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.api.CoreCounts;
import io.lockkeeper.server.core.api.FreezeView;
import java.util.List;

/**
 * The cluster as one coordinator sees it.
 *
 * @param store who is there, and who serves which lock session
 * @param counts how the coordinator itself is
 * @param draining whether it hands over what it serves, or has
 * @param frozen the frozen prefixes, in their order
 */
public record ClusterView(
    StoreView store, CoreCounts counts, boolean draining, List<FreezeView> frozen) {

  /** Copies the list. */
  public ClusterView {
    frozen = List.copyOf(frozen);
  }
}
