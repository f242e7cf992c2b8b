package io.lockkeeper.server.zookeeper.member;

import io.lockkeeper.server.zookeeper.client.Connection;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.HandleListener;
import io.lockkeeper.server.zookeeper.client.RootNodes;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.record.MemberRecord;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The member session: an ephemeral node that says that this coordinator lives, and where. Made
 * again whenever the session is lost. Lives on the store's thread.
 */
public final class MemberNode implements HandleListener {

  private static final Logger LOG = LoggerFactory.getLogger(MemberNode.class);
  private static final long RETRY_MILLIS = 500;
  private static final long RENEW_MILLIS = 2_000;

  private final StoreContext context;
  private final RootNodes rootNodes;
  private final Connection connection;
  private boolean registered;
  private final Deque<Runnable> whenRegistered = new ArrayDeque<>();
  private boolean wasRegistered;
  private boolean left;

  public MemberNode(StoreContext context, RootNodes rootNodes) {
    this.context = context;
    this.rootNodes = rootNodes;
    connection =
        new Connection(
            context, Connection.Use.WRITING, context.settings().times().memberTimeout(), this);
  }

  public void start() {
    registered = false;
    connection.open();
  }

  /** Returns the handle while it is connected. */
  public Optional<Handle> connection() {
    return connection.connected();
  }

  /** Runs {@code action} when the node is known to have existed once. */
  public void whenRegistered(Runnable action) {
    if (wasRegistered) {
      action.run();
    } else {
      whenRegistered.add(action);
    }
  }

  /** Looks whether the node is still there, and makes it again if somebody has deleted it. */
  void check() {
    if (registered) {
      connection().ifPresent(this::check);
    }
  }

  private void check(Handle asked) {
    asked.exists(
        context.paths().member(),
        false,
        (rc, path, ctx, stat) -> context.executor().execute(() -> onChecked(asked, rc)),
        null);
  }

  private void onChecked(Handle asked, int rc) {
    if (rc == Code.NONODE.intValue() && isCurrent(asked) && registered) {
      LOG.atWarn().log("somebody has deleted this coordinator's member node, making it again");
      context.stats().add(StoreStats.StoreCount.MEMBER_NODES_REMADE, 1);
      registered = false;
      register();
    }
  }

  private boolean isCurrent(Handle asked) {
    return connection.handle().filter(current -> current == asked).isPresent();
  }

  @Override
  public void onConnected() {
    if (left) {
      delete();
    } else {
      rootNodes.whenReady(this::register);
    }
  }

  private void register() {
    if (!registered && !left) {
      connection().ifPresent(this::register);
    }
  }

  private void register(Handle asked) {
    ZooKeeperSettings.Member self = context.settings().member();
    long zxidBefore = context.highestZxid().get();
    asked.create(
        context.paths().member(),
        new MemberRecord(self.advertisedAddress().get(), self.home()).write(),
        context.paths().acl(),
        CreateMode.EPHEMERAL,
        (rc, path, ctx, name, stat) ->
            context
                .executor()
                .execute(
                    () -> {
                      // The first write of a start: lock sessions are opened after it.
                      if (stat == null || context.isLater(zxidBefore, stat.getCzxid())) {
                        onRegistered(asked, rc);
                      }
                    }),
        null);
  }

  private void onRegistered(Handle asked, int rc) {
    if (!isCurrent(asked) || left) {
      return;
    }
    if (rc == Code.OK.intValue()) {
      onOurs();
    } else if (rc == Code.NODEEXISTS.intValue()) {
      asked.exists(
          context.paths().member(),
          false,
          (result, path, ctx, stat) -> {
            boolean ours = stat != null && stat.getEphemeralOwner() == asked.getSessionId();
            context.executor().execute(() -> onExisting(asked, ours));
          },
          null);
    } else {
      if (rc == Code.NONODE.intValue()) {
        rootNodes.ensure();
      }
      if (rc == Code.NOAUTH.intValue()) {
        // Who we are is settled for each handle when it is opened.
        context.executor().after(RENEW_MILLIS, () -> renew(asked));
      } else {
        registerLater();
      }
    }
  }

  /** Unless it is another handle by now, or has been let in: to end that session is to be dead. */
  private void renew(Handle asked) {
    if (isCurrent(asked) && !registered && !left) {
      connection.renew();
    }
  }

  private void onOurs() {
    registered = true;
    wasRegistered = true;
    if (context.problems().isRefused()) {
      rootNodes.ensure();
    }
    while (!whenRegistered.isEmpty()) {
      whenRegistered.removeFirst().run();
    }
  }

  private void onExisting(Handle asked, boolean ours) {
    if (!isCurrent(asked) || left) {
      return;
    }
    if (ours) {
      onOurs();
    } else {
      // Ids are new at every start: it is of a session of ours whose end ZooKeeper has still to
      // see.
      LOG.atDebug().log("the member node of an earlier session is still there, trying again");
      registerLater();
    }
  }

  private void registerLater() {
    context.executor().after(RETRY_MILLIS, this::register);
  }

  @Override
  public void onDisconnected() {
    // It connects again by itself.
  }

  @Override
  public void onExpired() {
    if (!left) {
      start();
    }
  }

  /** Deletes the node, and makes it no more. */
  public void leave() {
    left = true;
    registered = false;
    delete();
  }

  /** Sooner than closing the session, which waits for its turn; that is what settles it. */
  private void delete() {
    connection()
        .ifPresent(h -> h.delete(context.paths().member(), -1, (rc, path, ctx) -> {}, null));
  }

  /** Closes the session: the node goes, and peers see at once that this coordinator has left. */
  public void stop(Runnable closed) {
    left = true;
    connection.close(closed);
  }
}
