package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.StoreEvent;
import java.util.function.Consumer;

/**
 * What all parts of the store share.
 *
 * @param settings how the store was configured
 * @param paths where everything is
 * @param thread where all state lives
 * @param connector opens and ends handles
 * @param directories the directories that are believed to exist
 * @param stats what is counted
 * @param events where events go
 * @param onUnusable told once what makes this ensemble unfit to serve
 */
record StoreContext(
    ZooKeeperSettings settings,
    StorePaths paths,
    StoreThread thread,
    Connector connector,
    Directories directories,
    StoreStats stats,
    Consumer<StoreEvent> events,
    Consumer<String> onUnusable) {}
