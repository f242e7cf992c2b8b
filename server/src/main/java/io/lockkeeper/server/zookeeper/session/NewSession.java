package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.ResultCode;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.record.ClaimRecord;
import io.lockkeeper.server.zookeeper.record.SessionIdentity;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.util.Optional;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lock session that is new: its claim record is written over the session itself, before anything
 * else is on it, and after the member node, without which peers would take it for an orphan.
 */
final class NewSession implements SessionStart {

  private static final Logger LOG = LoggerFactory.getLogger(NewSession.class);
  private static final long RETRY_MILLIS = 200;
  private static final long RENEW_MILLIS = 2_000;
  private static final int FIRST_EPOCH = 0;

  private final SessionContext services;
  private final StoreContext context;
  private final SessionAttachment attachment;
  private final SessionEvents events;
  private final StartListener listener;
  private boolean wanted;

  NewSession(
      SessionContext services,
      SessionAttachment attachment,
      SessionEvents events,
      StartListener listener) {
    this.services = services;
    context = services.context();
    this.attachment = attachment;
    this.events = events;
    this.listener = listener;
  }

  @Override
  public Optional<Claim> claim() {
    return attachment
        .identity()
        .map(session -> new Claim(StorePaths.claimName(session.id()), FIRST_EPOCH));
  }

  @Override
  public boolean isEmpty() {
    return true;
  }

  @Override
  public void onConnected(boolean fits) {
    if (attachment.identity().isEmpty()) {
      if (!fits) {
        attachment.close(listener::onGone);
        return;
      }
      attachment.identify();
    }
    wanted = true;
    services.rootNodes().whenReady(() -> services.member().whenRegistered(this::write));
  }

  @Override
  public void onExpired() {
    // Nothing was on it yet: a fresh session will do.
    wanted = false;
    claim().ifPresent(services.claims()::remove);
    attachment.startOver();
  }

  @Override
  public void onAuthFailed() {
    onExpired();
  }

  @Override
  public void tellProved(long sentAtNanos, Runnable told, Runnable failed) {
    events.proved(sentAtNanos, attachment, true);
    told.run();
  }

  @Override
  public void cancel() {
    wanted = false;
  }

  private void write() {
    if (!wanted || !attachment.isConnected()) {
      return;
    }
    Handle handle = attachment.handle();
    ZooKeeperSettings.Member self = context.settings().member();
    SessionIdentity session = attachment.identity().orElseThrow();
    ClaimRecord record =
        new ClaimRecord(
            self.coordinatorId(),
            self.home(),
            session,
            attachment.grantedMillis(),
            FIRST_EPOCH,
            true);
    handle.create(
        context.paths().claim(StorePaths.claimName(session.id())),
        record.write(),
        context.paths().acl(),
        CreateMode.PERSISTENT,
        (rc, path, ctx, name, stat) ->
            context.executor().execute(() -> onAnswer(handle, rc, Optional.ofNullable(stat))),
        null);
  }

  private void onAnswer(Handle asked, int rc, Optional<Stat> stat) {
    if (!wanted || !attachment.isCurrent(asked)) {
      return;
    }
    stat.ifPresent(created -> checkEpoch(created.getCzxid()));
    if (rc == Code.OK.intValue()) {
      onOurs();
      return;
    }
    if (rc == Code.NODEEXISTS.intValue()) {
      read(asked);
      return;
    }
    if (rc == Code.NONODE.intValue() || rc == Code.NOAUTH.intValue()) {
      services.rootNodes().ensure();
    }
    if (rc == Code.NOAUTH.intValue()) {
      // Who we are is settled for each handle when it is opened.
      context.executor().after(RENEW_MILLIS, () -> renew(asked));
      return;
    }
    if (ResultCode.of(rc) != ResultCode.IN_DOUBT) {
      LOG.atWarn()
          .addKeyValue("error", ResultCode.name(rc))
          .log("cannot write the claim of a lock session, trying again");
    }
    context.executor().after(RETRY_MILLIS, this::write);
  }

  private void renew(Handle asked) {
    if (wanted && attachment.isCurrent(asked)) {
      wanted = false;
      attachment.close(attachment::startOver);
    }
  }

  private void onOurs() {
    wanted = false;
    listener.onClaimed();
  }

  /**
   * A record that exists is ours if its first answer was lost. But session ids come again: they are
   * made from how long a server's machine has been up.
   */
  private void read(Handle asked) {
    NodeReader.readOnce(
        context,
        asked,
        context.paths().claim(claim().orElseThrow().name()),
        (rc, node) -> onRead(asked, node));
  }

  private void onRead(Handle asked, Optional<NodeReader.Node> node) {
    if (!wanted || !attachment.isCurrent(asked)) {
      return;
    }
    if (node.isEmpty()) {
      context.executor().after(RETRY_MILLIS, this::write);
    } else if (isOurs(node.get().data())) {
      onOurs();
    } else {
      wanted = false;
      LOG.atWarn()
          .addKeyValue("claim", claim().orElseThrow().name())
          .log("a session has the id of an earlier one whose claim is left, opening another");
      attachment.close(attachment::startOver);
    }
  }

  private boolean isOurs(byte[] data) {
    return ClaimRecord.read(claim().orElseThrow().name(), data)
        .filter(record -> record.owner().equals(context.settings().member().coordinatorId()))
        .filter(record -> record.epoch() == FIRST_EPOCH)
        .isPresent();
  }

  private void checkEpoch(long zxid) {
    if (zxid >>> Integer.SIZE > FencingToken.MAX_EPOCH) {
      context
          .onUnusable()
          .accept(
              "ZooKeeper's epoch does not fit a fencing token: zxid 0x" + Long.toHexString(zxid));
    }
  }
}
