package io.lockkeeper.server.zookeeper.client;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes sure that the persistent nodes exist below which everything is kept, and that we may use
 * them. Lives on the store's thread.
 */
public final class RootNodes {

  private static final Logger LOG = LoggerFactory.getLogger(RootNodes.class);
  private static final long RETRY_MILLIS = 500;
  private static final long REFUSED_RETRY_MILLIS = 2_000;

  private final StoreContext context;
  private final Supplier<Optional<Handle>> connection;
  private final Runnable renew;
  private final List<String> nodes;
  private final Deque<Runnable> whenReady = new ArrayDeque<>();
  private boolean ready;
  private boolean running;

  /**
   * Works over whatever handle {@code connection} gives at the time.
   *
   * @param renew has another handle opened, with the credentials as they are by then
   */
  public RootNodes(StoreContext context, Supplier<Optional<Handle>> connection, Runnable renew) {
    this.context = context;
    this.connection = connection;
    this.renew = renew;
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

  /**
   * Creates what is missing, and looks whether we may use it; now if there is a connection, else
   * with the next call.
   */
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
      access(handle.get()).start();
    } else {
      handle
          .get()
          .create(
              nodes.get(index),
              new byte[0],
              context.paths().acl(),
              CreateMode.PERSISTENT,
              (rc, path, ctx, name) -> context.executor().execute(() -> onCreated(index, rc)),
              null);
    }
  }

  private RootAccess access(Handle handle) {
    return new RootAccess(context, handle, this::onComplete, this::onRefused, this::later);
  }

  private static String parent(String path) {
    int slash = path.lastIndexOf('/');
    return slash == 0 ? "/" : path.substring(0, slash);
  }

  private void onCreated(int index, int rc) {
    if (rc == Code.OK.intValue() || rc == Code.NODEEXISTS.intValue()) {
      create(index + 1);
    } else if (rc == Code.NOAUTH.intValue()) {
      // Whoever may not create it is not told that it exists.
      connection.get().ifPresentOrElse(handle -> lookFor(handle, index), () -> running = false);
    } else {
      if (ResultCode.of(rc) != ResultCode.IN_DOUBT) {
        LOG.atWarn()
            .addKeyValue("path", nodes.get(index))
            .addKeyValue("error", ResultCode.name(rc))
            .log("cannot create a node, trying again");
      }
      later();
    }
  }

  private void lookFor(Handle handle, int index) {
    handle.exists(
        nodes.get(index),
        false,
        (rc, path, ctx, stat) -> context.executor().execute(() -> onLookedFor(handle, index, rc)),
        null);
  }

  private void onLookedFor(Handle handle, int index, int rc) {
    String node = nodes.get(index);
    boolean closed = rc == Code.NOAUTH.intValue();
    // What is above our root need not be open to us.
    if (rc == Code.OK.intValue() || (closed && !context.paths().isOurs(node))) {
      create(index + 1);
    } else if (closed) {
      access(handle).describe(node);
    } else if (rc == Code.NONODE.intValue()) {
      access(handle).describe(parent(node));
    } else {
      later();
    }
  }

  private void later() {
    running = false;
    context.executor().after(RETRY_MILLIS, this::ensure);
  }

  private void onRefused(String why) {
    context.problems().accessRefused(why);
    context
        .executor()
        .after(
            REFUSED_RETRY_MILLIS,
            () -> {
              running = false;
              // Who we are is settled for each handle when it is opened.
              renew.run();
              ensure();
            });
  }

  private void onComplete() {
    running = false;
    ready = true;
    context.problems().accessGranted();
    while (!whenReady.isEmpty()) {
      whenReady.removeFirst().run();
    }
  }
}
