package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.FencingToken;
import java.util.Optional;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.Stat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes the claim record of a session over the session itself, before anything else is on it. */
final class ClaimWriting {

  private static final Logger LOG = LoggerFactory.getLogger(ClaimWriting.class);
  private static final long RETRY_MILLIS = 200;
  private static final int EPOCH = 0;

  private final StoreContext context;
  private final Layout layout;
  private final Attachment attachment;
  private final Runnable written;
  private boolean wanted;

  /** Runs {@code written} when the record exists. */
  ClaimWriting(StoreContext context, Layout layout, Attachment attachment, Runnable written) {
    this.context = context;
    this.layout = layout;
    this.attachment = attachment;
    this.written = written;
  }

  /** Begins, or begins again on a new connection. */
  void start() {
    wanted = true;
    layout.whenReady(this::write);
  }

  /** Returns the operation that checks the record: without it nothing is written. */
  Op fence() {
    return Fence.of(context.paths().claim(attachment.identity().orElseThrow().id()), EPOCH);
  }

  /** Returns the name of the record, once there may be one. */
  Optional<String> name() {
    return attachment.identity().map(session -> StorePaths.claimName(session.id()));
  }

  /** Gives up. */
  void cancel() {
    wanted = false;
  }

  private void write() {
    if (!wanted || !attachment.isConnected()) {
      return;
    }
    Handle handle = attachment.handle();
    SessionIdentity session = attachment.identity().orElseThrow();
    handle.create(
        context.paths().claim(session.id()),
        ClaimRecord.write(context.settings().coordinatorId(), session, attachment.grantedMillis()),
        Ids.OPEN_ACL_UNSAFE,
        CreateMode.PERSISTENT,
        (rc, path, ctx, name, stat) ->
            context.thread().execute(() -> onAnswer(handle, rc, Optional.ofNullable(stat))),
        null);
  }

  private void onAnswer(Handle asked, int rc, Optional<Stat> stat) {
    if (!wanted || asked != attachment.handle()) {
      return;
    }
    stat.ifPresent(created -> checkEpoch(created.getCzxid()));
    // Session ids are never used twice: a record that exists is ours, its first answer was lost.
    if (rc == Code.OK.intValue() || rc == Code.NODEEXISTS.intValue()) {
      wanted = false;
      written.run();
      return;
    }
    if (rc == Code.NONODE.intValue()) {
      layout.ensure();
    }
    if (Verdict.of(rc) != Verdict.IN_DOUBT) {
      LOG.atWarn()
          .addKeyValue("error", Verdict.name(rc))
          .log("cannot write the claim of a lock session, trying again");
    }
    context.thread().after(RETRY_MILLIS, this::write);
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
