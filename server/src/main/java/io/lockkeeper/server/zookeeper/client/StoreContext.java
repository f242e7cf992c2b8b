package io.lockkeeper.server.zookeeper.client;

import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.zookeeper.record.Directories;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * What all parts of the store share.
 *
 * @param settings how the store was configured
 * @param paths where everything is
 * @param executor where all state lives
 * @param connector opens and ends handles
 * @param directories the directories that are believed to exist
 * @param stats what is counted
 * @param events where events go
 * @param onUnusable told once what makes this ensemble unfit to serve
 * @param problems what is wrong with the nodes in ZooKeeper, and whether we may use them
 * @param highestZxid how far ZooKeeper is known to have come
 */
public record StoreContext(
    ZooKeeperSettings settings,
    StorePaths paths,
    StoreExecutor executor,
    Connector connector,
    Directories directories,
    StoreStats stats,
    Consumer<StoreEvent> events,
    Consumer<String> onUnusable,
    StoreProblems problems,
    HighestZxid highestZxid) {

  /**
   * Takes note of a write. Returns false, and reports the ensemble as unusable, if it went back.
   *
   * @param before what {@link HighestZxid#get} returned when the write was sent
   * @param zxid the write's zxid
   */
  public boolean isLater(long before, long zxid) {
    Optional<String> problem = highestZxid.committed(before, zxid);
    problem.ifPresent(onUnusable);
    return problem.isEmpty();
  }
}
