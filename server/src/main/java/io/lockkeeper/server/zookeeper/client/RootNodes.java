package io.lockkeeper.server.zookeeper.client;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs.Ids;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes sure that the persistent nodes exist below which everything is kept. Lives on the store's
 * thread.
 */
public final class RootNodes {

  private static final Logger LOG = LoggerFactory.getLogger(RootNodes.class);
  private static final long RETRY_MILLIS = 500;

  private final StoreContext context;
  private final Supplier<Optional<Handle>> connection;
  private final List<String> nodes;
  private final Deque<Runnable> whenReady = new ArrayDeque<>();
  private boolean ready;
  private boolean running;

  /** Works over whatever handle {@code connection} gives at the time. */
  public RootNodes(StoreContext context, Supplier<Optional<Handle>> connection) {
    this.context = context;
    this.connection = connection;
    nodes = context.paths().layout();
  }

  /** Runs {@code action} when the nodes are known to have existed once. */
  public void whenReady(Runnable action) {
    if (ready) {
      action.run();
    } else {
      whenReady.add(action);
    }
  }

  /** Creates what is missing, now if there is a connection, else with the next call. */
  public void ensure() {
    if (!running) {
      running = true;
      create(0);
    }
  }

  private void create(int index) {
    Optional<Handle> handle = connection.get();
    if (handle.isEmpty()) {
      running = false;
    } else if (index == nodes.size()) {
      onComplete();
    } else {
      handle
          .get()
          .create(
              nodes.get(index),
              new byte[0],
              Ids.OPEN_ACL_UNSAFE,
              CreateMode.PERSISTENT,
              (rc, path, ctx, name) -> context.executor().execute(() -> onCreated(index, rc)),
              null);
    }
  }

  private void onCreated(int index, int rc) {
    if (rc == Code.OK.intValue() || rc == Code.NODEEXISTS.intValue()) {
      create(index + 1);
      return;
    }
    running = false;
    if (ResultCode.of(rc) != ResultCode.IN_DOUBT) {
      LOG.atWarn()
          .addKeyValue("path", nodes.get(index))
          .addKeyValue("error", ResultCode.name(rc))
          .log("cannot create a node, trying again");
    }
    context.executor().after(RETRY_MILLIS, this::ensure);
  }

  private void onComplete() {
    running = false;
    ready = true;
    while (!whenReady.isEmpty()) {
      whenReady.removeFirst().run();
    }
  }
}
