package io.lockkeeper.server.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs.Ids;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The member session: an ephemeral node that says that this coordinator lives, and where. Made
 * again whenever the session is lost. Lives on the store's thread.
 */
final class MemberNode implements HandleListener {

  private static final Logger LOG = LoggerFactory.getLogger(MemberNode.class);
  private static final long RETRY_MILLIS = 500;

  private final StoreContext context;
  private final Layout layout;
  private Optional<Handle> handle = Optional.empty();
  private boolean connected;
  private boolean registered;
  private boolean warned;

  MemberNode(StoreContext context, Layout layout) {
    this.context = context;
    this.layout = layout;
  }

  void start() {
    registered = false;
    handle = Optional.of(context.connector().open(context.settings().memberTimeout(), this));
  }

  @Override
  public void onConnected() {
    connected = true;
    layout.whenReady(this::register);
  }

  private void register() {
    if (!connected || registered) {
      return;
    }
    Handle asked = handle.orElseThrow();
    asked.create(
        context.paths().member(),
        context.settings().advertisedAddress().getBytes(StandardCharsets.UTF_8),
        Ids.OPEN_ACL_UNSAFE,
        CreateMode.EPHEMERAL,
        (rc, path, ctx, name) -> context.thread().execute(() -> onRegistered(asked, rc)),
        null);
  }

  private void onRegistered(Handle asked, int rc) {
    if (handle.filter(current -> current == asked).isEmpty()) {
      return;
    }
    if (rc == Code.OK.intValue()) {
      registered = true;
    } else if (rc == Code.NODEEXISTS.intValue()) {
      asked.exists(
          context.paths().member(),
          false,
          (result, path, ctx, stat) -> {
            boolean ours = stat != null && stat.getEphemeralOwner() == asked.getSessionId();
            context.thread().execute(() -> onExisting(ours));
          },
          null);
    } else {
      if (rc == Code.NONODE.intValue()) {
        layout.ensure();
      }
      registerLater();
    }
  }

  private void onExisting(boolean ours) {
    registered = ours;
    if (!ours) {
      if (!warned) {
        warned = true;
        LOG.atWarn()
            .addKeyValue("coordinator", context.settings().coordinatorId())
            .log(
                "a coordinator of this id is still registered: an earlier run of this one, unless two share the id");
      }
      registerLater();
    }
  }

  private void registerLater() {
    context.thread().after(RETRY_MILLIS, this::register);
  }

  @Override
  public void onDisconnected() {
    connected = false;
  }

  @Override
  public void onExpired() {
    connected = false;
    handle.ifPresent(Handle::silence);
    start();
  }

  /** Closes the session: the node goes, and peers see at once that this coordinator has left. */
  void stop(Runnable closed) {
    connected = false;
    if (handle.isPresent()) {
      context.connector().close(handle.get(), closed);
    } else {
      closed.run();
    }
  }
}
